"""Journals replay exactly; an error names the line that is wrong."""

from __future__ import annotations

import io
import json

import pytest

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Link, Timer
from duologue.core.machine import ROWS, Machine
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage
from duologue.replay.journal import InvalidJournal, read_journal, replay


def played() -> Stage:
    stage = Stage()
    stage.start()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.speak(600)
    stage.interrupt()
    stage.wait(5_000)
    return stage


def journal_of(stage: Stage, seed: int = 7) -> list[str]:
    out = io.StringIO()
    stage.write_journal(out, seed)
    return out.getvalue().splitlines(keepends=True)


def test_a_journal_replays_to_the_same_states_and_effects() -> None:
    stage = played()
    journal = read_journal(journal_of(stage))
    assert journal.seed == 7
    assert journal.settings == stage.settings
    assert list(replay(journal)) == stage.records


def test_a_journal_holds_no_field_that_could_carry_a_word() -> None:
    for line in journal_of(played())[1:-1]:
        for name, value in json.loads(line)["event"].items():
            assert name in ("type", "timer", "error", "part") or type(value) in (int, bool), name


def test_a_changed_machine_is_found_at_the_first_difference() -> None:
    stage = played()
    lines = journal_of(stage)
    broken = Machine([row for row in ROWS if "committing + ReplyAccepted" not in row.name])
    accepted = next(n for n, record in enumerate(stage.records) if "Accepted" in type(record.event).__name__)
    with pytest.raises(InvalidJournal, match=rf"^line {accepted + 2}: after ReplyAccepted, the state has the digest "):
        list(replay(read_journal(lines), broken))


def test_a_truncated_journal_says_where_it_ends() -> None:
    lines = journal_of(played())
    with pytest.raises(InvalidJournal, match=r"^truncated: no end line after event 3 \(line 4\)"):
        read_journal(lines[:4])


def test_a_journal_cut_in_mid_line_names_the_line() -> None:
    lines = journal_of(played())
    with pytest.raises(InvalidJournal, match=r"^line 4: not JSON, the line is cut off"):
        read_journal([*lines[:3], lines[3][:20]])


def test_an_empty_journal_is_refused() -> None:
    with pytest.raises(InvalidJournal, match=r"^line 1"):
        read_journal([])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 99}, "line 1: the file has schema 99, but this version reads only 1"),
        ({"format": "other"}, "line 1: not a Duologue journal"),
        ({"settings_digest": "0"}, "line 1: the settings were edited"),
        ({"seed": "x"}, "line 1: seed must be a number, not 'x'"),
    ],
)
def test_a_header_of_another_kind_is_refused(change: dict[str, object], message: str) -> None:
    lines = journal_of(played())
    lines[0] = json.dumps({**json.loads(lines[0]), **change}) + "\n"
    with pytest.raises(InvalidJournal, match=message):
        read_journal(lines)


def test_edited_settings_are_refused() -> None:
    lines = journal_of(played())
    header = json.loads(lines[0])
    header["settings"]["beat_ms"] = 0
    with pytest.raises(InvalidJournal, match="line 1: invalid settings: beat_ms must be between 1 and"):
        read_journal([json.dumps(header) + "\n", *lines[1:]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "Nonsense"}, "line 2: unknown event 'Nonsense'"),
        ({"seq": "one"}, "line 2: StartRequested.seq must be int, not 'one'"),
        ({"extra": 1}, "line 2: StartRequested has no field 'extra'"),
    ],
)
def test_an_edited_event_names_its_line(change: dict[str, object], message: str) -> None:
    lines = journal_of(played())
    data = json.loads(lines[1])
    data["event"].update(change)
    with pytest.raises(InvalidJournal, match=message):
        read_journal([lines[0], json.dumps(data) + "\n", *lines[2:]])


def test_an_event_with_another_time_no_longer_agrees() -> None:
    lines = journal_of(played())
    data = json.loads(lines[3])
    data["event"]["at"] += 1
    with pytest.raises(InvalidJournal, match=r"^line \d+: "):
        list(replay(read_journal([*lines[:3], json.dumps(data) + "\n", *lines[4:]])))


def test_a_removed_line_is_noticed() -> None:
    lines = journal_of(played())
    with pytest.raises(InvalidJournal, match="the end line counts"):
        read_journal([*lines[:5], *lines[6:]])


def test_something_after_the_end_is_noticed() -> None:
    lines = journal_of(played())
    with pytest.raises(InvalidJournal, match="unexpected line after the end"):
        read_journal([*lines, lines[1]])


SAMPLES = {
    "error": ErrorClass.UNKNOWN,
    "part": FaultSource.EARS,
    "timer": Timer.BEAT,
    "due": 5,
    "heard_ms": 7,
    "words": 2,
    "substantial": 1,
    "bid": True,
}


# -- Journals of earlier versions


def renewed() -> Stage:
    """The old session ends while the answer plays and the next session is being opened. Later, a session ends without
    a successor."""
    stage = Stage(profile("confirm", session_ms_max=2_500, session_warning_ms=0))
    stage.start()
    stage.say()
    stage.think()
    stage.speak(600)
    stage.wait_for(Timer.SESSION_LIMIT)
    stage.happen(ev.SessionEnded)
    assert stage.state.link is Link.RENEWING
    stage.happen(ev.SessionReady)
    assert stage.state.link is Link.UP
    stage.happen(ev.SessionEnded)
    assert stage.state.link is Link.BACKING_OFF
    return stage


def without_successors(lines: list[str]) -> list[str]:
    """The journal as version 0.1 would have written it: the end of a session doesn't name the successor."""
    older = [json.loads(line) for line in lines]
    for line in older:
        if line.get("event", {}).get("type") == "SessionEnded":
            del line["event"]["session"]
    return [json.dumps(line) + "\n" for line in older]


def test_the_end_of_a_session_in_an_older_journal_does_what_it_did_then() -> None:
    stage = renewed()
    steps = list(replay(read_journal(without_successors(journal_of(stage)))))
    assert [step.after for step in steps] == [record.after for record in stage.records]
    assert [step.effects for step in steps] == [record.effects for record in stage.records]
    ends = [step.event for step in steps if isinstance(step.event, ev.SessionEnded)]
    assert [event.session for event in ends] == [ev.UNNAMED_SESSION] * 2


def test_the_end_of_an_earlier_session_changes_nothing_in_a_replay() -> None:
    stage = renewed()
    lines = journal_of(stage)
    at = next(n for n, line in enumerate(lines) if '"SessionEnded"' in line)
    changed = json.loads(lines[at])
    changed["event"]["session"] += 5
    with pytest.raises(InvalidJournal, match=rf"^line {at + 1}: after SessionEnded, the state has the digest "):
        list(replay(read_journal([*lines[:at], json.dumps(changed) + "\n", *lines[at + 1 :]])))
