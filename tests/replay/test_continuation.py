"""The journal of a process that took over continues an earlier one, from a state that the earlier one reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.core.state import State
from duologue.lab.sim.stage import Stage
from duologue.replay.continuation import Continuation, find_continuation
from duologue.replay.journal import read_journal, replay


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    stage = Stage()
    stage.start()
    stage.say()
    stage.answer()
    path = tmp_path / "call.jsonl"
    with path.open("w", encoding="utf-8") as out:
        stage.write_journal(out)
    return path


def states(path: Path) -> list[State]:
    journal = read_journal(path.read_text("utf-8").splitlines(keepends=True))
    return [journal.first, *(record.after for record in replay(journal))]


@pytest.mark.parametrize("back", [0, 1, 5])
def test_the_place_is_found_and_what_was_not_saved_is_counted(earlier: Path, back: int) -> None:
    known = states(earlier)
    start = known[len(known) - 1 - back]
    found = find_continuation(start, [earlier])
    assert found is not None
    assert found == Continuation(earlier, found.event, len(known) - 1)
    assert known[found.event] == start
    assert found.unsaved <= back


def test_a_state_that_the_journal_never_reaches_continues_nothing(earlier: Path) -> None:
    last = states(earlier)[-1]
    assert find_continuation(last._replace(at=last.at + 1), [earlier]) is None


def test_journals_that_can_not_be_replayed_are_passed_over(earlier: Path, tmp_path: Path) -> None:
    start = states(earlier)[-1]
    edited, garbage = tmp_path / "edited.jsonl", tmp_path / "garbage.jsonl"
    lines = earlier.read_text("utf-8").splitlines(keepends=True)
    edited.write_text("".join([*lines[:3], *lines[4:]]), "utf-8")
    garbage.write_bytes(b"\xff\x00")
    assert find_continuation(start, [tmp_path / "missing.jsonl", garbage, edited]) is None
    found = find_continuation(start, [garbage, edited, earlier])
    assert found is not None
    assert found.file == earlier
