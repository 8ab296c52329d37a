"""What the hearing machine does after a step of the conversation machine."""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.core.leaves import Link, User, Voice
from duologue.core.settings import profile
from duologue.hearing import inputs as inp
from duologue.hearing import intents as it
from duologue.lab.check.hearing.product import NewestReplyAsks, TimePassed
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded, TurnOver
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


def test_the_end_of_a_voice_that_came_before_its_onset_is_shifted_by_a_pause() -> None:
    call = HeardCall().wait(1_000).give(SpeechEnded(1))
    assert call.hearing.early_end == (1, call.state.at)
    call.post(ev.SuspendRequested).wait(5_000).post(ev.ResumeRequested)
    assert call.hearing.early_end == (1, call.state.at)


def over_a_sound_that_ended_unnoticed(text: str) -> HeardCall:
    """The agent speaks for a second, of which the line has reported 800 ms. Three seconds later, the user speaks."""
    call = HeardCall().speak("it is nine").wait(800).post(ev.PlaybackProgressed, heard_ms=800)
    call.wait(3_000).begin(text, 1).wait(400)
    return call.give(SpeechEnded(1), Final(text, utterance=1)).wait(450)


def test_words_after_a_sound_whose_end_is_reported_late_are_the_next_turn() -> None:
    call = over_a_sound_that_ended_unnoticed("yes")
    call.post(ev.PlaybackFinished, heard_ms=1_000)
    assert call.intents(it.TakeAnswer)[0].reasons == ("after_sound",)
    assert call.asked[-1] == "yes"


def test_words_during_a_sound_stay_overheard_although_its_end_is_reported_late() -> None:
    call = over_a_sound_that_ended_unnoticed("yes")
    call.post(ev.PlaybackFinished, heard_ms=9_000)
    assert not call.intents(it.TakeAnswer)


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


@pytest.mark.req("H-06.unheard", "H-14")
def test_words_of_a_voice_that_was_given_up_and_has_ended_answer_no_later_question() -> None:
    call = HeardCall().speak("it is nine").wait(900).post(ev.PlaybackProgressed, heard_ms=900).give(SpeechBegan(1))
    call.wait(50).give(TurnOver(1), SpeechEnded(1)).post(ev.PlaybackFinished, heard_ms=1_000).wait(2_000)
    call.give(inp.Typed(0, "and then")).post(ev.AudioBuffered)
    call.give(inp.AgentSpoke(0, (), inp.QuestionSpan(0, 1_000))).wait(100).give(Final("yes", utterance=1))
    assert call.hearing.known[-1].over_ms == -1
    call.wait(450).post(ev.PlaybackProgressed, heard_ms=550).wait(450).post(ev.PlaybackFinished, heard_ms=1_000)
    assert not call.intents(it.TakeAnswer)


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


def over_the_agent(profile_name: str = "words") -> HeardCall:
    """The agent speaks for a second, of which the line reports 900 ms in time."""
    settings = profile(profile_name, greets=False, dead_air_ms=0)
    call = HeardCall(profile_name, settings=settings).say("hello there", 1).wait(1_000).post(ev.AudioBuffered)
    return call.give(inp.AgentSpoke(0, ())).wait(900).post(ev.PlaybackProgressed, heard_ms=900)


@pytest.mark.parametrize(
    ("stop", "go_on"), [(ev.LinkWobbled, ev.LinkHealed), (ev.SuspendRequested, ev.ResumeRequested)]
)
def test_a_break_before_the_late_report_of_the_end_of_a_sound_changes_nothing(
    stop: type[ev.Event], go_on: type[ev.Event]
) -> None:
    call = over_the_agent().wait(200).give(SpeechBegan(2)).wait(300)
    call.give(SpeechEnded(2), Final("yes please", utterance=2)).wait(450)
    call.post(stop).wait(1_500).post(go_on).wait(10).post(ev.PlaybackFinished, heard_ms=1_000)
    assert call.asked[-1] == "yes please"


@pytest.mark.parametrize("profile_name", ["confirm", "words"])
def test_the_next_sound_does_not_hide_words_after_a_sound_whose_end_is_reported_late(profile_name: str) -> None:
    call = over_the_agent(profile_name).wait(200).give(SpeechBegan(2)).wait(300)
    call.give(SpeechEnded(2), Final("yeah", utterance=2)).wait(450)
    call.give(SpeechBegan(3)).wait(50).post(ev.PlaybackFinished, heard_ms=1_000).wait(50)
    call.give(SpeechEnded(3), Final("", utterance=3)).wait(5_000)
    assert call.asked[-1] == "yeah"


@pytest.mark.req("M-09", "V-02")
@pytest.mark.parametrize("texts", [("yeah", "yeah yeah"), ("", "yeah")])
def test_a_word_during_a_sound_is_no_turn_although_its_text_comes_after_the_sound(texts: tuple[str, str]) -> None:
    first, second = texts
    call = over_the_agent().give(SpeechBegan(2)).wait(100).give(SpeechEnded(2))
    if first:
        call.give(Final(first, utterance=2))
    call.wait(650).post(ev.PlaybackProgressed, heard_ms=1_650).wait(150).give(Final(second, utterance=2))
    call.wait(10).post(ev.PlaybackFinished, heard_ms=1_700).wait(100)
    assert call.asked == ["hello there"]


@pytest.mark.parametrize(("is_reported", "quiet_ms"), [(False, 100), (True, 60)])
def test_late_words_of_a_voice_that_was_given_up_end_with_that_voice_and_not_with_an_earlier_one(
    is_reported: bool, quiet_ms: int
) -> None:
    call = HeardCall().give(SpeechBegan(1)).wait(300).give(SpeechEnded(1)).wait(5_000)
    call.give(SpeechBegan(2)).wait(1_000).give(TurnOver(2))
    assert call.hearing.known[-1].was_dismissed
    call.wait(50)
    if is_reported:
        call.give(SpeechEnded(2, quiet_ms=10))
    call.wait(50).give(Final("book a table", utterance=2))
    assert call.intents(it.StopSpeech)[-1].quiet_ms == quiet_ms
    assert call.core.user is User.SETTLING


@pytest.mark.req("M-09")
def test_words_that_follow_a_turn_that_was_overheard_are_the_next_turn_if_they_end_after_the_sound() -> None:
    call = over_the_agent().begin("um", 2).wait(50).give(TurnOver(2)).wait(400)
    call.give(SpeechEnded(2), Final("um yes please", utterance=2)).wait(500)
    call.post(ev.PlaybackFinished, heard_ms=1_000)
    assert call.texts[3] == "yes please"
    assert call.intents(it.TakeAnswer)[0].turn == 3
    assert call.asked[-1] == "yes please"


def renew_session(call: HeardCall) -> HeardCall:
    """The session ends before the next one is ready, which takes another ten seconds."""
    call.post(ev.SessionEnded)
    assert call.core.link is Link.RENEWING
    return call.wait(10_000).post(ev.SessionReady)


@pytest.mark.req("H-06.unheard")
def test_a_question_is_not_heard_while_the_next_session_is_opened() -> None:
    settings = profile("words", greets=False, dead_air_ms=0, session_ms_max=2_000, session_warning_ms=1_000)
    call = HeardCall("words", settings=settings).wait(2_000).speak("shall i book it", (0, 1_000)).wait(100)
    call.post(ev.PlaybackProgressed, heard_ms=100)
    renew_session(call).begin("yes", 1)
    assert call.hearing.known[-1].over_ms == 100
    call.wait(50).give(SpeechEnded(1), Final("yes", utterance=1)).wait(450)
    call.post(ev.PlaybackProgressed, heard_ms=600).wait(400).post(ev.PlaybackFinished, heard_ms=1_000)
    assert not call.intents(it.TakeAnswer)


def test_the_time_in_which_a_sound_was_held_is_no_playback() -> None:
    call = over_the_agent("confirm").wait(50).give(SpeechBegan(2)).wait(100)
    assert call.core.voice is Voice.HELD
    heard_at = call.hearing.heard_at
    call.give(SpeechEnded(2), Final("um", utterance=2)).wait(100)
    assert call.core.voice is Voice.PLAYING
    assert call.hearing.heard_at == heard_at + 100


@pytest.mark.req("H-15")
def test_words_that_become_the_next_turn_in_a_step_without_effects_are_given_to_the_brain() -> None:
    call = HeardCall(settings=profile("confirm", dead_air_ms=0)).say("hello there", 1).wait(1_000)
    call.give(SpeechBegan(2), Partial("um", utterance=2)).wait(300).give(SpeechEnded(2)).wait(2_500)
    call.post(ev.AudioBuffered).wait(300).give(Final("um at nine please", utterance=2)).wait(500)
    call.post(ev.PlaybackFinished, heard_ms=900).wait(3_000)
    assert call.asked[-1] == "um at nine please"
