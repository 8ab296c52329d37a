"""What the hearing machine does after a step of the conversation machine."""

from __future__ import annotations

from duologue.core import events as ev
from duologue.core.leaves import Link, User
from duologue.core.settings import profile
from duologue.hearing import inputs as inp
from duologue.hearing import intents as it
from duologue.lab.check.hearing.product import NewestReplyAsks, TimePassed
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from tests.hearing.heard_calls import HeardCall


def test_an_utterance_learns_the_onset_that_the_conversation_machine_gave_it() -> None:
    call = HeardCall().begin(number=1)
    (known,) = call.hearing.known
    assert (known.turn, known.onset) == (1, call.core.onset)


def test_a_voice_that_goes_on_after_typed_text_begins_the_next_turn() -> None:
    call = HeardCall().begin("one", 1).give(inp.Typed(0, "two"), Final("one three", utterance=1))
    assert call.texts == {1: "one two", 2: "three"}


def test_a_sent_turn_is_asked_although_the_voice_goes_on() -> None:
    call = HeardCall().begin("one", 1).post(ev.SendPressed).wait(601)
    assert call.asked == ["one"]
    assert (call.core.user, call.core.turn) == (User.TALKING, 2)
    call.give(Final("one two", utterance=1))
    assert call.texts == {1: "one", 2: "two"}


def test_a_new_sound_after_a_send_does_not_delay_the_request() -> None:
    call = HeardCall().begin("one", 1).give(SpeechEnded(1)).post(ev.SendPressed).give(SpeechBegan(2)).wait(601)
    assert call.asked == ["one"]
    assert len(call.intents(it.BeginSpeech)) == 2


def test_a_voice_whose_turn_ended_as_noise_is_given_up() -> None:
    call = HeardCall().give(SpeechBegan(1), Partial("um", utterance=1), Final("", utterance=1))
    call.give(SpeechBegan(2)).wait(10_000)
    assert call.core.user is User.QUIET
    assert not call.hearing.speaking
    assert len(call.give(SpeechEnded(2)).intents(it.StopSpeech)) == 1


def test_a_voice_without_words_that_reaches_the_limit_of_a_turn_is_given_up_until_it_has_words() -> None:
    call = HeardCall(settings=profile("confirm", talk_ms_max=5_000)).begin(number=1).wait(5_000)
    assert not call.hearing.speaking
    call.wait(1_500).give(Partial("one", utterance=1))
    assert call.hearing.speaking
    assert (call.core.user, call.texts) == (User.TALKING, {call.core.turn: "one"})


def test_times_are_shifted_by_a_pause() -> None:
    call = HeardCall().begin("one", 1).wait(100)
    began_at = call.hearing.began_at
    call.post(ev.SuspendRequested).wait(5_000).post(ev.ResumeRequested)
    assert call.hearing.began_at == began_at + 5_000


def test_words_over_the_end_of_the_question_answer_it() -> None:
    call = HeardCall().speak("shall i", (0, 1_000)).wait(600).post(ev.PlaybackProgressed, heard_ms=600)
    call.begin("yes", 1).wait(100).give(SpeechEnded(1), Final("yes", utterance=1)).wait(450)
    call.post(ev.PlaybackFinished, heard_ms=1_000)
    assert call.intents(it.TakeAnswer)[0].turn == 2
    assert call.asked[-1] == "yes"


def test_words_of_a_voice_that_was_taken_for_noise_are_measured_against_the_speech_in_which_they_come() -> None:
    call = HeardCall().give(SpeechBegan(1), Partial("um", utterance=1), Final("", utterance=1))
    call.speak("shall i", (0, 1_000)).wait(600).post(ev.PlaybackProgressed, heard_ms=600)
    call.give(SpeechBegan(2)).wait(12_000)
    assert call.hearing.known[-1].was_dismissed
    call.post(ev.AudioBuffered).give(Partial("yes", utterance=2))
    assert call.hearing.known[-1].over_ms == 0


def test_a_lost_line_is_no_release_without_a_button() -> None:
    assert not HeardCall().begin("one", 1).post(ev.LinkClosed).intents(it.ReleaseButton)


def lose_line(call: HeardCall) -> HeardCall:
    """The line is lost, and comes back."""
    call.post(ev.LinkClosed)
    while call.core.link is not Link.RECONNECTING:
        call.give(TimePassed())
    return call.post(ev.SessionReady)


def test_a_question_that_the_lost_line_has_cut_off_is_said_again() -> None:
    call = HeardCall().speak("shall i book it", (0, 800)).give(NewestReplyAsks()).wait(100)
    call.post(ev.PlaybackProgressed, heard_ms=100)
    lose_line(call)
    assert call.intents(it.RepeatQuestion) == [it.RepeatQuestion()]
    assert call.core.link is Link.UP
    assert not call.intents(it.PressButton)


def test_a_question_that_was_heard_is_not_said_again() -> None:
    call = HeardCall().speak("shall i book it", (0, 800)).give(NewestReplyAsks()).wait(800)
    call.post(ev.PlaybackFinished, heard_ms=800)
    assert lose_line(call).intents(it.RepeatQuestion) == []
