"""Agents are found by `module:attribute`, and a wrong name is one line with advice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from duologue.runtime.find_agent import AgentNotFound, find_agent

CODE = "from duologue import Agent\n\nagent = Agent(lambda request: 'Hello.', name='found')\nnumber = 42\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent_to_find.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "agent_to_find", raising=False)


def test_an_agent_in_the_current_folder_is_found() -> None:
    assert find_agent("agent_to_find:agent").name == "found"


@pytest.mark.parametrize(
    ("place", "advice"),
    [
        ("agent_to_find", "agent must be module:attribute"),
        ("agent_to_find:agnet", "does not exist; did you mean agent?"),
        ("agent_to_find:number", "is int, not Agent; it has agent"),
        ("agent_nowhere:agent", "can't be imported: ModuleNotFoundError"),
    ],
)
def test_a_wrong_name_is_one_line_with_advice(place: str, advice: str) -> None:
    with pytest.raises(AgentNotFound) as refusal:
        find_agent(place)
    assert advice in str(refusal.value)
    assert "\n" not in str(refusal.value)
