"""Seeded callers: the same seed tells the same story, and a broken runtime is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue import Agent
from duologue.lab.sim.population import CallResult, play_call, simulate
from duologue.replay.journal import read_journal, replay
from duologue.runtime.hearing import Hearing
from duologue.runtime.speech import Speech
from duologue.runtime.tasks import Tasks
from duologue.runtime.tool_calls import ToolCalls
from duologue.runtime.transcript import Transcript


def bad(calls: int, faults: bool = True, seed: int = 3) -> list[CallResult]:
    return [result for result in simulate(calls, seed, faults) if not result.is_well]


@pytest.mark.req("L-08", "L-13", "V-05", "V-08", "C-AC-007")
def test_a_hundred_callers_without_faults_are_all_served_without_a_fault() -> None:
    results = list(simulate(100, 5, faults=False))
    assert [result.complaints for result in results if not result.is_well] == []
    assert sum(result.faults for result in results) == 0
    assert sum(result.turns for result in results) > 300


def test_two_hundred_callers_with_faults_all_end_well() -> None:
    results = list(simulate(200, 6, faults=True))
    assert [result.complaints for result in results if not result.is_well] == []
    assert sum(result.faults for result in results) > 20, "the faults are too kind to prove anything"


def test_a_call_is_wholly_told_by_its_seed_and_number(tmp_path: Path) -> None:
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


def test_somebody_elses_agent_can_be_called_too() -> None:
    async def echo(request: object) -> object:
        yield f"You said {request.text}."  # type: ignore[attr-defined]

    results = list(simulate(20, 1, faults=True, agent=Agent(echo)))
    assert [result.complaints for result in results if not result.is_well] == []


# -- The invariants are only worth something if a broken runtime breaks them


def test_sound_that_is_not_dropped_on_a_stop_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Speech, "drop", lambda self: None)
    monkeypatch.setattr(Tasks, "cancel", lambda self, task: None)
    assert bad(60)


def test_a_turn_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Transcript, "turns", lambda self, first, last: [])
    assert any("asked_words_reach_the_brain" in text for result in bad(20) for text in result.complaints)


def test_a_second_output_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    post = ToolCalls.post_output

    def twice(self: ToolCalls, effect: object) -> None:
        self._transcript.add_output(effect.call, "?", effect.outcome)  # type: ignore[attr-defined]
        post(self, effect)  # type: ignore[arg-type]

    monkeypatch.setattr(ToolCalls, "post_output", twice)
    assert any("one_output_for_each_call" in text for result in bad(40) for text in result.complaints)


def test_ears_that_talk_for_ever_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def follow(self: Hearing, record: object) -> None:
        from duologue.core import events as ev

        if self._speaking and record.before.user.value == "talking" and record.after.user.value == "transcribing":  # type: ignore[attr-defined]
            self._driver.post(ev.SpeechStarted)

    monkeypatch.setattr(Hearing, "follow", follow)
    monkeypatch.setattr(Hearing, "end", lambda self: None)
    assert any("never_stuck" in text for result in bad(150, seed=7) for text in result.complaints)
