"""The hearing machine and the conversation machine together: what is heard, asked, overheard and lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from duologue.core import events as ev
from duologue.core.leaves import Link, User, Voice
from duologue.hearing import inputs as inp
from duologue.hearing import intents as it
from duologue.hearing.machine import HEARING_ROWS, HearingMachine
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.words import Fate
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame
from duologue.turns.endpoint import EasyTurnEndpoint, ServerEndpoint
from tests.hearing.heard_calls import HeardCall


def test_a_turn_is_asked_after_a_short_silence() -> None:
    call = HeardCall().say("book a table")
    assert call.core.user is User.SETTLING
    assert call.wait(401).asked == ["book a table"]


def test_an_input_without_a_row_changes_nothing() -> None:
    call = HeardCall()
    state, intents = HearingMachine(()).step(HearingPolicy(), call.hearing, inp.Reported(0, SpeechBegan(1)))
    assert state is call.hearing
    assert intents == ()


def test_ears_are_ignored_when_the_call_is_over() -> None:
    call = HeardCall().post(ev.EndRequested).give(SpeechBegan(1), Final("hello", utterance=1))
    assert call.texts == {}
    assert not call.intents(it.BeginSpeech)


def test_a_row_has_a_readable_name() -> None:
    named = {row.name for row in HEARING_ROWS}
    assert "SpeechBegan -> begin_speech" in named
    assert "Woke [due_endpoint] -> end_turn_by_silence" in named
    assert len(named) == len(HEARING_ROWS)


def test_the_rows_can_be_replaced() -> None:
    machine = HearingMachine(())
    machine.load(HEARING_ROWS)
    assert machine.rows == HEARING_ROWS


# -- What the ears report


def test_the_end_of_an_earlier_utterance_does_not_end_this_one() -> None:
    call = HeardCall().begin("well", 1).give(SpeechBegan(2), SpeechEnded(1))
    assert call.core.user is User.TALKING
    assert call.give(SpeechEnded(2)).core.user is User.SETTLING


def test_a_partial_text_that_comes_after_the_final_one_is_ignored() -> None:
    call = HeardCall().say("book a table").give(Partial("book", utterance=1))
    assert call.texts == {1: "book a table"}


def test_empty_text_of_an_unknown_utterance_begins_nothing() -> None:
    call = HeardCall().give(Partial("", utterance=7), Final(""))
    assert call.core.turn == 0
    assert call.hearing.known == ()


def test_text_of_an_utterance_whose_onset_was_missed_joins_the_open_turn() -> None:
    call = HeardCall().begin("one", 3).give(Final("zero", utterance=2))
    assert call.texts == {1: "one zero"}
    assert len(call.intents(it.BeginSpeech)) == 1


def test_text_is_the_first_sign_of_speech_for_ears_without_onsets() -> None:
    call = HeardCall().give(Partial("book"), Final("book it")).wait(401)
    assert call.asked == ["book it"]
    assert call.give(Final("now")).core.turn == 2


def test_a_server_that_detects_the_end_of_a_turn_ends_it() -> None:
    call = HeardCall(endpoint=ServerEndpoint()).say("book it").give(TurnOver(1))
    assert call.asked == ["book it"]
    assert call.intents(it.EndTurn)[0].reasons == ("by_server",)


def test_the_end_of_a_turn_without_an_utterance_means_nothing() -> None:
    assert not HeardCall().give(TurnOver()).intents(it.EndTurn)


def test_restarted_ears_count_from_one_again_and_their_words_are_new() -> None:
    call = HeardCall().begin("before", 1).give(inp.EarsStopped(0))
    assert call.core.user is User.SETTLING
    call.wait(3_001).wait(1_500).say("after", 1).wait(401)
    assert call.texts == {1: "before", 2: "after"}


def test_stopped_ears_are_forgotten_with_their_utterances() -> None:
    call = HeardCall().begin("before", 1).give(inp.EarsStopped(0))
    assert call.hearing.known == ()
    assert not call.hearing.speaking
    call.wait(3_001).wait(1_500).give(Partial("after", utterance=1))
    assert call.texts == {1: "before", 2: "after"}


# -- The button


def test_the_button_decides_when_the_turn_ends() -> None:
    call = HeardCall().give(inp.ButtonPressed(0)).say("book").wait(5_000)
    assert call.core.user is User.TALKING
    assert call.give(inp.ButtonReleased(0)).wait(601).asked == ["book"]


def test_a_press_keeps_the_words_of_the_open_turn_in_it() -> None:
    """The onset was told before the press, and the voice ends before the turn reaches its limit."""
    call = HeardCall().begin("one", 1).give(inp.ButtonPressed(0), SpeechEnded(1)).wait(600_000)
    call.give(Final("one two three", utterance=1))
    assert " ".join(call.texts.values()).split().count("one") == 1


def test_a_press_after_a_send_leaves_the_words_that_were_sent_in_their_turn() -> None:
    call = HeardCall().begin("one", 1).post(ev.SendPressed).give(inp.ButtonPressed(0))
    call.give(Final("one two three", utterance=1))
    assert call.texts == {1: "one", 2: "two three"}


def test_the_button_is_still_pressed_after_the_longest_turn() -> None:
    call = HeardCall().give(inp.ButtonPressed(0)).begin("one", 1).wait(600_001)
    assert (call.core.user, call.core.turn) == (User.TALKING, 2)
    call.give(Final("one two", utterance=1), inp.ButtonReleased(0))
    assert call.texts == {1: "one", 2: "two"}


def test_a_lost_line_releases_the_button() -> None:
    call = HeardCall().give(inp.ButtonPressed(0)).begin("one", 1).post(ev.LinkClosed)
    assert not call.hearing.button
    assert call.intents(it.ReleaseButton)


# -- Typed text


def test_typed_text_joins_a_turn_whose_words_were_taken_back() -> None:
    call = HeardCall().begin("one", 1).give(Final("", utterance=1), inp.Typed(0, "two"))
    assert call.asked == ["two"]
    assert call.fate(1) is Fate.ASKED


# -- Over the agent


def test_words_over_the_agent_interrupt_it() -> None:
    call = HeardCall().speak().begin("wait a moment", 1)
    assert call.core.voice is Voice.STOPPING
    assert call.intents(it.JudgeOverlap)[0].bid


def test_a_backchannel_does_not_interrupt() -> None:
    call = HeardCall().speak().say("yeah", 1).wait(500)
    assert call.core.voice is Voice.PLAYING
    assert call.fate(2) is Fate.OVERHEARD


def test_a_sound_that_lasts_interrupts_even_without_words() -> None:
    call = HeardCall().speak().begin(number=1).wait(801)
    assert call.core.voice is not Voice.PLAYING
    assert call.intents(it.JudgeOverlap)[0].reasons == ("sound_800ms",)


def test_late_text_of_an_overheard_turn_is_given_to_the_brain() -> None:
    """The filler was recorded as overheard; the final text comes after the agent has finished, and has words."""
    call = HeardCall().speak().give(SpeechBegan(1), SpeechEnded(1)).wait(1_200)
    call.give(Partial("um", utterance=1)).post(ev.PlaybackFinished, heard_ms=1_200)
    call.give(Final("book it", utterance=1))
    assert call.asked[-1] == "book it"
    assert call.fate(2) is Fate.ASKED


def test_words_over_a_firm_reply_are_answered_after_it() -> None:
    call = HeardCall().speak().post(ev.ReplyBecameFirm).say("book it", 1).wait(500)
    assert call.core.voice is Voice.PLAYING
    assert call.fate(2) is Fate.OWED
    call.post(ev.PlaybackFinished, heard_ms=1_500).wait(10)
    assert call.asked[-1] == "book it"


@pytest.mark.parametrize("over_ms", [100, 700])
def test_an_answer_over_the_end_of_the_question_counts(over_ms: int) -> None:
    call = HeardCall(settings=None).speak(question=(0, 1_000)).wait(over_ms)
    call.post(ev.PlaybackProgressed, heard_ms=over_ms).begin("yes", 1).wait(100)
    call.give(SpeechEnded(1), Final("yes", utterance=1)).wait(450)
    call.post(ev.PlaybackFinished, heard_ms=1_000).wait(50)
    assert (call.asked[-1] == "yes") is (over_ms >= 500)


# -- Time and the line


def test_no_due_time_while_no_audio_arrives() -> None:
    call = HeardCall().say("book it")
    assert call.product.next_due(call.state) == call.state.at + 400
    call.wait(100).post(ev.SuspendRequested).wait(10_000).post(ev.ResumeRequested)
    assert call.wait(299).asked == []
    assert call.wait(1).asked == ["book it"]


def test_a_voice_without_words_is_dismissed_if_the_ears_read_along() -> None:
    call = HeardCall().begin("one", 1).give(SpeechEnded(1), Final("one", utterance=1)).wait(401)
    call.begin(number=2).wait(10_000)
    assert call.core.user is User.QUIET
    assert call.intents(it.DismissSound)[0].reasons == ("wordless_10000ms",)


def test_text_that_stops_changing_ends_the_voice() -> None:
    call = HeardCall().begin("one", 1).wait(100).give(Partial("one two", utterance=1)).wait(10_001)
    assert call.core.user is not User.TALKING
    assert call.wait(3_000).asked == ["one two"]


def test_the_same_words_in_another_utterance_are_new_text() -> None:
    """The ears miss the end of an utterance that has the same text as the one before it."""
    call = HeardCall().say("one", 1).wait(3_000).post(ev.ReplyFinished)
    call.begin("one", 2).wait(9_999)
    assert call.core.user is User.TALKING
    assert call.wait(3_000).asked == ["one", "one"]


def test_after_a_lost_line_the_words_are_asked() -> None:
    call = HeardCall().say("book it").post(ev.LinkClosed).wait(1_001)
    assert call.core.link is Link.RECONNECTING
    call.post(ev.SessionReady).wait(5_000)
    assert call.asked[-1] == "book it"


def function_calls(work: Callable[[], object]) -> int:
    """How many functions are called: the amount of work, which is the same on every machine."""
    count = 0

    def see(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.req("T-09.decision")
@pytest.mark.parametrize("endpoint", [None, EasyTurnEndpoint()], ids=["by pauses", "by frames"])
def test_the_work_of_a_decision_is_small_and_does_not_grow_with_the_call(endpoint: EasyTurnEndpoint | None) -> None:
    """Both machines, over frames with speech over the agent and in silence. How long the work takes is measured by
    `duologue bench ears`."""
    policy = {} if endpoint is None else {"endpoint": endpoint}
    call = HeardCall(**policy).speak("the house is yours").give(SpeechBegan(1))

    def hear(frames: range) -> None:
        for number in frames:
            is_voice = number % 50 < 30
            quiet_ms = 0 if is_voice else 32 * (number % 50 - 29)
            call.wait(32).give(VoiceFrame(0.9 if is_voice else 0.02, 0.1 if is_voice else 0.001, 32, quiet_ms, 1))

    early = function_calls(lambda: hear(range(200))) / 200
    hear(range(200, 5_000))
    late = function_calls(lambda: hear(range(5_000, 5_200))) / 200
    assert early < 400
    assert late <= early
