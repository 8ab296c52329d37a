"""`--view` names the vocabulary of the states: the phases, unless another view is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from duologue.cli.view_option import view_named
from duologue.core.errors import DuologueError
from duologue.core.views import EVERY_VIEW, PHASE, VIEWS
from duologue.lab.sim.stage import Stage
from tests.cli.command_line import run


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    stage = Stage()
    stage.start()
    stage.say()
    stage.answer()
    path = tmp_path / "call.jsonl"
    with path.open("w", encoding="utf-8") as out:
        stage.write_journal(out)
    return path


def test_the_phases_come_first_and_every_view_of_a_specification_follows() -> None:
    assert list(EVERY_VIEW) == [PHASE.name, *VIEWS]
    assert [view_named(name).name for name in EVERY_VIEW] == list(EVERY_VIEW)


def test_an_unknown_view_is_one_line_with_the_known_ones() -> None:
    with pytest.raises(DuologueError, match=r"no view is called 'lanes'; .*--view: phase, lifecycle, conversation"):
        view_named("lanes")


@pytest.mark.parametrize("command", ["timeline", "replay"])
def test_a_call_is_told_in_phases_and_in_another_vocabulary_if_that_is_asked_for(command: str, journal: Path) -> None:
    text = run(command, str(journal)).stdout
    assert "seen as phase" in text
    assert "user_speaking" in text
    assert json.loads(run(command, str(journal), "--json").stdout)["view"] == "phase"
    other = run(command, str(journal), "--view", "conversation").stdout
    assert "seen as conversation" in other
    assert "waitingForCopilot" in other or "processing" in other
    assert json.loads(run(command, str(journal), "--view", "phone", "--json").stdout)["view"] == "phone"


@pytest.mark.parametrize("command", ["timeline", "replay"])
def test_a_command_refuses_an_unknown_view(command: str, journal: Path) -> None:
    done = run(command, str(journal), "--view", "lanes")
    assert done.returncode == 1
    assert done.stderr.startswith("error: no view is called 'lanes'")


def test_the_page_has_a_lane_of_phases_and_one_of_the_view_that_is_asked_for(journal: Path, tmp_path: Path) -> None:
    page = tmp_path / "call.html"
    for options, lanes in (((), ["phase"]), (("--view", "lifecycle"), ["phase", "lifecycle"])):
        assert run("timeline", str(journal), "--html", str(page), *options).returncode == 0
        drawn = page.read_text(encoding="utf-8")
        assert [name for name in EVERY_VIEW if f'data-lane="{name}"' in drawn] == lanes


def test_the_demo_is_told_in_the_view_that_is_asked_for(tmp_path: Path) -> None:
    journal = str(tmp_path / "demo.journal")
    assert "seen as phase" in run("demo", "--fast", "--journal", journal).stdout
    assert "seen as orchestrator" in run("demo", "--fast", "--journal", journal, "--view", "orchestrator").stdout
