"""Seeded callers: the same seed gives the same call, and a broken runtime is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duologue import Agent
from duologue.core.leaves import User
from duologue.core.step_record import StepRecord
from duologue.lab.sim import population
from duologue.lab.sim.population import CallResult, play_call, simulate
from duologue.ports.ears import Heard, SpeechBegan, SpeechEnded
from duologue.replay.journal import read_journal, replay
from duologue.runtime.hearing import Hearing
from duologue.runtime.speech import Speech
from duologue.runtime.tasks import Tasks
from duologue.runtime.transcript import Transcript


def bad(calls: int, faults: bool = True, seed: int = 3) -> Iterator[CallResult]:
    """The calls that don't end well, one after the other, so that a test can stop at the first."""
    return (result for result in simulate(calls, seed, faults) if not result.is_well)


@pytest.mark.req("L-08", "L-13", "V-05", "V-08", "C-AC-007")
def test_a_hundred_callers_without_faults_are_all_served_without_a_fault() -> None:
    results = list(simulate(100, 5, faults=False))
    assert [result.complaints for result in results if not result.is_well] == []
    assert sum(result.faults for result in results) == 0
    assert sum(result.turns for result in results) > 300


def test_a_hundred_callers_with_faults_all_end_well() -> None:
    results = list(simulate(100, 6, faults=True))
    assert [result.complaints for result in results if not result.is_well] == []
    assert sum(result.faults for result in results) > 20, "too few faults to prove anything"


def test_the_same_seed_and_number_give_the_same_call(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    play_call(7, 12, True, first)
    play_call(7, 12, True, second)
    assert first.read_bytes() == second.read_bytes()
    play_call(7, 13, True, second)
    assert first.read_bytes() != second.read_bytes()


def test_the_journal_of_a_call_replays(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    result = play_call(7, 4, True, path)
    with path.open(encoding="utf-8") as lines:
        assert len(list(replay(read_journal(lines)))) == result.events


def test_any_agent_can_be_called() -> None:
    async def echo(request: object) -> object:
        yield f"You said {request.text}."  # type: ignore[attr-defined]

    results = list(simulate(20, 1, faults=True, agent=Agent(echo)))
    assert [result.complaints for result in results if not result.is_well] == []


# -- A broken runtime breaks the invariants


def test_audio_that_is_not_dropped_on_a_stop_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Speech, "drop", lambda self: None)
    monkeypatch.setattr(Tasks, "cancel", lambda self, task: None)
    assert next(bad(150), None)


def test_a_turn_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Transcript, "turns", lambda self, first, last: [])
    assert any("asked_words_reach_the_brain" in text for result in bad(20) for text in result.complaints)


def test_a_second_output_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    add_output = Transcript.add_output

    def twice(self: Transcript, *output: Any) -> None:
        add_output(self, *output)
        add_output(self, *output)

    monkeypatch.setattr(Transcript, "add_output", twice)
    assert any("one_output_for_each_call" in text for result in bad(40) for text in result.complaints)


def test_ears_that_report_speech_for_ever_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def follow(self: Hearing, record: StepRecord) -> None:
        if record.before.user is User.TALKING and record.after.user is User.TRANSCRIBING:
            self.note(SpeechBegan())

    def note(self: Hearing, heard: Heard) -> None:
        if not isinstance(heard, SpeechEnded):
            honest(self, heard)

    honest = Hearing.note
    monkeypatch.setattr(Hearing, "note", note)
    monkeypatch.setattr(Hearing, "follow", follow)
    monkeypatch.setattr(population, "REST_S_MAX", 500)  # shorter than the longest turn
    assert any("never_stuck" in text for result in bad(150, seed=7) for text in result.complaints)
