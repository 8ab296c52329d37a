"""When a turn ends by silence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.hearing.inputs import TextJudged, Woke
from duologue.hearing.intents import DismissSound, EndTurn
from duologue.hearing.machine import HEARING
from duologue.hearing.state import due_times, words_to_judge
from duologue.ports.ears import Final, Pause, SpeechBegan, SpeechEnded, VoiceFrame
from duologue.turns.completeness import Completeness
from duologue.turns.endpoint import FixedSilence, ManualEndpoint
from duologue.turns.features import LevelShape, PauseFeatures
from tests.hearing.heard_calls import HeardCall

SURE = PauseFeatures(600, 20.0, shape=LevelShape(), turn_logit=3.0)


def test_the_policy_decides_how_much_silence_ends_the_turn() -> None:
    call = HeardCall(endpoint=FixedSilence(900)).say("book it")
    assert call.wait(899).asked == []
    assert call.wait(1).asked == ["book it"]


def test_the_end_of_a_turn_is_told_once_even_if_the_machine_is_woken_again_before_the_turn_is_over() -> None:
    call = HeardCall(endpoint=FixedSilence(900)).say("book it")
    policy, woken = call.product.policy, Woke(call.state.at + 900)
    ended, told = HEARING.step(policy, call.hearing, woken)
    assert [type(one) for one in told] == [EndTurn]
    assert due_times(policy, ended) == []
    assert not HEARING.step(policy, ended, woken)[1]


def test_how_long_a_sound_over_the_agent_lasts_is_judged_once() -> None:
    call = HeardCall().speak().begin()
    policy = call.product.policy
    (due,) = (due for due in due_times(policy, call.hearing) if due.why == "overlap")
    judged, _ = HEARING.step(policy, call.hearing, Woke(due.at))
    assert "overlap" not in {later.why for later in due_times(policy, judged)}


def test_a_sound_without_words_is_dismissed_once() -> None:
    call = HeardCall().begin("book it", 1).give(SpeechEnded(1), Final("book it", utterance=1)).wait(5_000)
    call.begin(number=2)
    policy = call.product.policy
    (due,) = (due for due in due_times(policy, call.hearing) if due.why == "wordless")
    dismissed, told = HEARING.step(policy, call.hearing, Woke(due.at))
    assert [type(one) for one in told] == [DismissSound]
    assert due_times(policy, dismissed) == []


def test_a_machine_that_is_woken_before_its_time_does_nothing() -> None:
    call = HeardCall().begin("book it")
    assert due_times(call.product.policy, call.hearing)
    after, told = HEARING.step(call.product.policy, call.hearing, Woke(call.state.at + 1))
    assert (after.speaking, after.ended_at, list(told)) == (True, call.hearing.ended_at, [])


def test_the_policy_is_asked_again_only_if_something_has_changed() -> None:
    call = HeardCall().say("book it")
    wait = call.hearing.wait
    assert call.wait(100).hearing.wait is wait
    assert call.give(Final("book it now", utterance=1)).hearing.wait_for[0] == "book it now"


def test_the_end_is_judged_by_the_text_of_the_model_that_reads_along() -> None:
    better = Final("Book a table, ...", 0.4, 1, 0.9, "book a table", 0.8)
    call = HeardCall().give(SpeechBegan(1)).wait(500).give(SpeechEnded(1), better)
    assert (call.hearing.wait_for[0], call.hearing.said.confidence) == ("book a table", 0.8)
    call.give(SpeechBegan(2)).wait(100).give(SpeechEnded(2), Final("", utterance=2))
    assert call.hearing.wait_for[0] == "book a table", "a noise behind it changes nothing"
    assert call.wait(2_000).asked == ["Book a table, ..."]


def test_the_text_of_a_turn_that_was_judged_says_nothing_about_the_next_one() -> None:
    call = (
        HeardCall().give(SpeechBegan(1)).wait(500).give(SpeechEnded(1), Final("Yes!", utterance=1, first_text="Yeah"))
    )
    call.wait(2_000).say("two", 2)
    assert call.hearing.wait_for[0] == "two"


def test_a_second_utterance_is_judged_together_with_the_first() -> None:
    first = Final("To Rome,", utterance=1, first_text="Too wrong")
    call = HeardCall().give(SpeechBegan(1)).wait(500).give(SpeechEnded(1), first)
    call.give(SpeechBegan(2)).wait(200).give(SpeechEnded(2), Final("on Monday.", utterance=2, first_text="one Monday"))
    assert call.hearing.wait_for[0] == "Too wrong one Monday"


def test_silence_never_ends_a_turn_that_ends_by_hand() -> None:
    call = HeardCall(endpoint=ManualEndpoint()).say("book it")
    assert not [due for due in due_times(call.product.policy, call.hearing) if due.why == "endpoint"]


def test_a_sound_behind_the_text_delays_the_answer_by_its_length_and_a_little() -> None:
    call = HeardCall().say("book it", 1).wait(100).give(SpeechBegan(2)).wait(300).give(SpeechEnded(2))
    assert call.wait(599).asked == []
    assert call.wait(1).asked == ["book it"]


def test_a_sure_voice_whose_text_is_late_is_a_turn_and_no_noise() -> None:
    frame = VoiceFrame(0.99, 0.1, 32, 0, 1)
    call = HeardCall().give(SpeechBegan(1), frame, SpeechEnded(1), Pause(SURE, 64, 1)).wait(550)
    assert call.core.user.value == "transcribing"
    assert call.give(Final("book it", utterance=1)).asked == ["book it"]


@pytest.mark.req("H-17")
def test_a_turn_that_the_brain_finds_open_waits_longer() -> None:
    call = HeardCall().say("I would like to fly to")
    assert words_to_judge(call.hearing) == (1, 1)
    call.give(TextJudged(call.state.at, 1, 1, Completeness.OPEN))
    assert words_to_judge(call.hearing) is None
    assert call.wait(1_199).asked == []
    assert call.wait(1).asked == ["I would like to fly to"]


@pytest.mark.req("H-17")
def test_what_the_brain_said_about_other_words_does_not_count() -> None:
    call = HeardCall().say("I would like to fly to")
    call.give(TextJudged(call.state.at, 1, 7, Completeness.OPEN))
    assert call.wait(400).asked == ["I would like to fly to"]


@pytest.mark.req("H-17")
def test_words_that_are_understood_end_the_turn_sooner() -> None:
    ends = []
    for completeness in (Completeness.UNKNOWN, Completeness.COMPLETE):
        call = HeardCall().begin(number=1)
        call.give(VoiceFrame(0.9, 0.1, 32, 0, 1), VoiceFrame(0.1, 0.0, 32, 64, 1))
        call.give(Pause(replace(SURE, turn_logit=-2.0), 64, 1), SpeechEnded(1, 64), Final("Boston", utterance=1))
        call.give(TextJudged(call.state.at, 1, call.hearing.words.of(1).gist, completeness))
        ends.append(min(due.at for due in due_times(call.product.policy, call.hearing)) - call.hearing.ended_at)
        assert call.hearing.wait is not None
        assert any(one.startswith("understood") for one in call.hearing.wait.reasons) is (completeness == "complete")
    assert ends[1] < ends[0]


@pytest.mark.req("H-17")
def test_only_words_before_a_pause_are_judged_and_each_once() -> None:
    call = HeardCall().begin("from", 1)
    assert words_to_judge(call.hearing) is None  # the user is speaking
    call.give(Final("from Boston", utterance=1), SpeechEnded(1))
    wanted = words_to_judge(call.hearing)
    assert wanted is not None
    call.give(TextJudged(call.state.at, *wanted, Completeness.COMPLETE), Final("From Boston.", utterance=1))
    assert words_to_judge(call.hearing) is None  # case and punctuation make no other words
    call.give(Final("from Boston to Denver", utterance=1))
    assert words_to_judge(call.hearing) == (1, wanted[1] + 1)
    assert words_to_judge(call.wait(5_000).hearing) is None  # the turn is over
