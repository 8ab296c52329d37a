"""What an agent's file needs is found in its imports, and listed at once with the commands that get it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from duologue.cli import requirements
from duologue.cli.requirements import EXTRAS, Requirements, requirements_of, requirements_of_agent
from duologue.models.catalogue import MODELS

ROOT = Path(__file__).parents[2]
SOURCE = """
from duologue import Agent, ChatBrain, LocalEars
from duologue.voice.espeak import EspeakVoice
from other import LocalNlu
"""


def test_extras_and_models_are_found_by_the_names_that_a_file_imports_from_duologue() -> None:
    found = requirements_of(SOURCE, ["server"])
    assert found.extras == ("server", "llm", "speech")
    assert found.models == ("silero-vad", "smart-turn", "moonshine-tiny", "espeak-ng")


def test_what_is_missing_comes_with_the_commands_that_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "is_installed", lambda extra: extra == "server")
    monkeypatch.setattr(requirements, "is_present", lambda name: name == "smart-turn")
    missing = requirements_of(SOURCE, ["server"]).missing()
    assert missing.commands() == [
        "pip install 'duologue[llm,speech]'",
        "duologue models pull silero-vad moonshine-tiny espeak-ng",
    ]


def test_nothing_missing_needs_no_command() -> None:
    assert Requirements().commands() == []


def test_a_file_that_cant_be_read_needs_only_what_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("this is not python", encoding="utf-8")
    assert requirements_of_agent("broken:agent", ["server"]) == Requirements(("server",))
    assert requirements_of_agent("absent:agent", ["server"]) == Requirements(("server",))


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS) <= set(project["optional-dependencies"])
    for extra in EXTRAS:
        assert requirements.is_installed(extra) or extra == "talk", f"the tests have no {extra}"


def test_the_models_are_in_the_catalogue() -> None:
    everything = requirements_of("from duologue import LocalEars, EspeakVoice, LocalNlu")
    assert set(everything.models) <= set(MODELS)
