"""Decided again: what is claimed about a pause follows from what was recorded, and the rest is unknown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from duologue.core.effects import CommitAudio
from duologue.lab.sim.population import play_call
from duologue.lab.tune.calls import read_call
from duologue.lab.tune.pauses import DecidedOverlap
from duologue.turns.controller import PRESETS
from duologue.turns.endpoint import EasyTurnEndpoint
from duologue.turns.overlap import OVERLAP_RULES
from tests.lab.tune.made_calls import Caller, decide_by_silence, decide_with, record


async def _asks_and_listens(caller: Caller) -> None:
    await caller.say("what is the weather like")
    await caller.wait(8_000)


async def _pauses_for_500_ms(caller: Caller) -> None:
    await caller.say("I would like")
    await caller.wait(500)
    await caller.say("two tickets to Rome")
    await caller.wait(8_000)


async def _speaks_in_the_answer(caller: Caller) -> None:
    """The turn ends after 700 ms, the agent is heard after 1,000 ms, and the user speaks again after 1,600 ms."""
    await caller.say("what is the weather like")
    await caller.wait(1_600)
    await caller.say("stop it please I meant tomorrow")
    await caller.wait(8_000)


def test_an_earlier_end_is_a_shorter_wait(tmp_path: Path) -> None:
    call = record(tmp_path / "call.jsonl", _asks_and_listens)
    (pause,) = decide_by_silence(call, 400).pauses
    assert (pause.is_end, pause.wait_ms, pause.is_assumed, pause.is_unknown) == (True, 400, False, False)


def test_a_later_end_before_the_answer_was_heard_is_known(tmp_path: Path) -> None:
    call = record(tmp_path / "call.jsonl", _asks_and_listens, thinks_ms=900)
    (pause,) = decide_by_silence(call, 1_200).pauses
    assert pause.answered_at is not None
    assert pause.answered_at - pause.silent_at >= 1_500
    assert (pause.wait_ms, pause.is_assumed) == (1_200, False)


def test_a_later_end_after_the_answer_was_heard_is_assumed(tmp_path: Path) -> None:
    call = record(tmp_path / "call.jsonl", _asks_and_listens)
    (pause,) = decide_by_silence(call, 1_500).pauses
    assert (pause.wait_ms, pause.is_assumed) == (1_500, True)


def test_a_user_who_goes_on_alone_was_not_at_the_end(tmp_path: Path) -> None:
    call = record(tmp_path / "call.jsonl", _pauses_for_500_ms)
    middle, end = decide_by_silence(call, 700).pauses
    assert (middle.is_end, middle.is_cut_in, middle.wait_ms) == (False, False, None)
    assert (end.is_end, end.wait_ms) == (True, 700)
    assert middle.resumed_at is not None
    assert middle.resumed_at - middle.silent_at == 500


def test_a_quicker_setting_would_cut_in(tmp_path: Path) -> None:
    call = record(tmp_path / "call.jsonl", _pauses_for_500_ms)
    middle, _ = decide_by_silence(call, 300).pauses
    assert middle.is_cut_in
    assert middle.ended_at == middle.silent_at + 300


def test_a_recorded_cut_in_before_anything_was_heard_stays_one_and_a_patient_setting_avoids_it(tmp_path: Path) -> None:
    call = record(tmp_path / "call.jsonl", _pauses_for_500_ms, silence_ms=300, thinks_ms=600)
    assert [pause.is_cut_in for pause in decide_by_silence(call, 300).pauses] == [True, False]
    assert [pause.is_cut_in for pause in decide_by_silence(call, 800).pauses] == [False, False]
    assert [pause.wait_ms for pause in decide_by_silence(call, 800).pauses] == [None, 800]


def test_a_voice_just_after_the_first_sound_of_the_agent_is_no_reaction_to_it(tmp_path: Path) -> None:
    async def act(caller: Caller) -> None:
        await caller.say("I would like")
        await caller.wait(1_050)  # the agent is heard after 1,000 ms
        await caller.say("two tickets to Rome")
        await caller.wait(8_000)

    call = record(tmp_path / "call.jsonl", act)
    assert decide_by_silence(call, 700).pauses[0].is_cut_in
    assert not decide_by_silence(call, 1_200).pauses[0].is_cut_in


def test_what_a_patient_setting_would_have_met_after_the_answer_is_unknown(tmp_path: Path) -> None:
    call = record(tmp_path / "call.jsonl", _speaks_in_the_answer)
    first = decide_by_silence(call, 700).pauses[0]
    assert (first.is_end, first.wait_ms, first.is_unknown) == (True, 700, False)
    late = decide_by_silence(call, 2_000).pauses[0]
    assert (late.is_end, late.wait_ms, late.is_cut_in, late.is_unknown) == (True, None, False, True)


def test_a_call_that_ends_first_says_nothing_about_a_patient_setting(tmp_path: Path) -> None:
    async def act(caller: Caller) -> None:
        await caller.say("goodbye then")
        await caller.wait(800)

    call = record(tmp_path / "call.jsonl", act, thinks_ms=900)
    (pause,) = decide_by_silence(call, 1_500).pauses
    assert pause.is_unknown
    assert decide_by_silence(call, 700).pauses[0].wait_ms == 700


def test_a_user_who_types_has_ended_the_pause_by_hand(tmp_path: Path) -> None:
    async def act(caller: Caller) -> None:
        await caller.say("what is")
        await caller.wait(300)
        caller.conversation.type("the weather in Rome")
        await caller.wait(8_000)

    call = record(tmp_path / "call.jsonl", act)
    assert [pause.is_unknown for pause in decide_by_silence(call, 700).pauses] == [True]
    assert [pause.wait_ms for pause in decide_by_silence(call, 200).pauses] == [200]


def test_a_sound_without_words_is_no_pause(tmp_path: Path) -> None:
    async def act(caller: Caller) -> None:
        caller.begin()
        await caller.wait(200)
        caller.end("")
        await caller.wait(3_000)

    assert not decide_by_silence(record(tmp_path / "call.jsonl", act), 700).pauses


async def _speaks_in_frames(caller: Caller) -> None:
    caller.begin()
    for _ in range(20):
        caller.frame(0.95, 0)
        await caller.wait(32)
    caller.end("what is the weather like in Rome")
    for place in range(1, 100):
        caller.frame(0.02, 32 * place, 0.001)
        await caller.wait(32)
    await caller.wait(6_000)


def test_a_policy_that_decides_by_frames_ends_the_turn_in_a_call_that_was_recorded_with_itself(tmp_path: Path) -> None:
    own = EasyTurnEndpoint(PRESETS["balanced"])
    call = record(tmp_path / "call.jsonl", _speaks_in_frames, endpoint=own)
    (pause,) = decide_with(call, call.policy).pauses
    commits = [r.event.at for r in call.records if any(type(one) is CommitAudio for one in r.effects)]
    assert [pause.ended_at] == commits


def test_a_policy_that_decides_by_frames_goes_on_after_the_recorded_end(tmp_path: Path) -> None:
    call = record(tmp_path / "call.jsonl", _speaks_in_frames, endpoint=EasyTurnEndpoint(PRESETS["aggressive"]))
    slow = replace(call.policy, endpoint=EasyTurnEndpoint(PRESETS["conservative"]))
    (quick,), (later,) = decide_with(call, call.policy).pauses, decide_with(call, slow).pauses
    assert quick.wait_ms is not None
    assert later.wait_ms is not None
    assert later.wait_ms > quick.wait_ms


def _over(call_path: Path, profile: str) -> list[tuple[bool | None, bool]]:
    call = record(call_path, _speaks_in_the_answer)
    policy = replace(call.policy, overlap=OVERLAP_RULES[profile])
    return [(one.bid, one.is_unknown) for one in decide_with(call, policy).overlaps]


def test_a_sound_over_the_agent_is_judged_again(tmp_path: Path) -> None:
    assert _over(tmp_path / "call.jsonl", "confirm") == [(True, False)]


def test_a_verdict_that_would_come_after_the_recorded_stop_is_unknown(tmp_path: Path) -> None:
    """`confirm` judges by the length of the sound after 800 ms; `words` waits for the text, which comes later."""

    async def act(caller: Caller) -> None:
        await caller.say("what is the weather like")
        await caller.wait(1_600)
        caller.begin()
        await caller.wait(1_500)
        caller.end("no I meant the weather of tomorrow")
        await caller.wait(6_000)

    call = record(tmp_path / "call.jsonl", act)
    words = replace(call.policy, overlap=OVERLAP_RULES["words"])
    (own,), (other,) = decide_with(call, call.policy).overlaps, decide_with(call, words).overlaps
    assert (own.bid, own.is_unknown) == (True, False)
    assert (other.bid, other.is_unknown) == (None, True)


def test_an_undecided_sound_over_an_agent_that_finishes_is_not_unknown() -> None:
    assert not DecidedOverlap(1, 100).is_unknown
    assert DecidedOverlap(1, 100, stopped_at=300).is_unknown


@pytest.mark.parametrize("number", range(12))
def test_with_the_recorded_policy_every_end_is_the_recorded_one(tmp_path: Path, number: int) -> None:
    path = tmp_path / "call.jsonl"
    play_call(5, number, faults=number % 2 == 1, journal=path)
    call = read_call(path)
    commits = {r.event.at for r in call.records if any(type(one) is CommitAudio for one in r.effects)}
    assert {one.ended_at for one in decide_with(call, call.policy).pauses if one.ended_at is not None} <= commits
