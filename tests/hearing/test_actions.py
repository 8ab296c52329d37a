"""What the rows do with reports of the ears, the button and time."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import User, Voice
from duologue.core.settings import profile
from duologue.hearing import inputs as inp
from duologue.hearing import intents as it
from duologue.hearing.state import is_premature
from duologue.ports.ears import Final, Partial, Pause, SpeechBegan, SpeechEnded, VoiceFrame
from duologue.turns.endpoint import EasyTurnEndpoint
from duologue.turns.features import LevelShape, PauseFeatures
from duologue.turns.own_speech import SpokenWord
from tests.hearing.heard_calls import HeardCall

SURE = PauseFeatures(600, 20.0, shape=LevelShape(), turn_logit=3.0)
VOICE = VoiceFrame(0.99, 0.1, 32, 0, 1)
QUIET = VoiceFrame(0.01, 0.0, 32, 320, 1)


def test_the_end_of_a_voice_is_when_it_fell_silent_not_when_that_was_reported() -> None:
    call = HeardCall().begin("book it", 1).wait(1_000).give(SpeechEnded(1, quiet_ms=300), Final("book it", utterance=1))
    assert call.hearing.ended_at == call.hearing.end_reported_at - 300
    assert call.wait(99).asked == []
    assert call.wait(1).asked == ["book it"]


def test_a_final_text_ends_an_utterance_whose_end_was_not_reported() -> None:
    assert HeardCall().begin("book", 1).give(Final("book it", utterance=1)).core.user is User.SETTLING


def test_a_later_text_of_an_utterance_replaces_the_earlier_one() -> None:
    call = HeardCall().begin("book", 1).give(Partial("cook it", utterance=1), Final("book it", utterance=1))
    assert call.texts == {1: "book it"}
    call.give(Final("book it now", utterance=1))
    assert call.texts == {1: "book it now"}


def test_utterances_of_one_turn_are_joined() -> None:
    call = HeardCall().say("book", 1).wait(100).say("a table", 2).wait(401)
    assert call.asked == ["book a table"]


def test_a_final_text_corrects_the_words_that_an_earlier_turn_keeps() -> None:
    call = HeardCall().begin("buck a", 1).post(ev.SendPressed).wait(601)
    call.give(Final("book a table now", utterance=1))
    assert call.texts == {1: "book a", 2: "table now"}


def test_frames_of_a_sure_voice_interrupt_the_agent() -> None:
    call = HeardCall().speak().give(SpeechBegan(1), *[VOICE] * 8)
    assert call.core.voice is Voice.HELD
    call.give(*[VOICE] * 6)
    assert call.core.voice is Voice.STOPPING


def test_frames_of_a_short_sound_do_not_interrupt() -> None:
    call = HeardCall().speak().give(SpeechBegan(1), VOICE, *[QUIET] * 8)
    assert call.core.voice is Voice.PLAYING
    assert [verdict.bid for verdict in call.intents(it.JudgeOverlap)] == [False]


def test_a_policy_that_decides_by_frames_ends_the_turn() -> None:
    call = HeardCall(endpoint=EasyTurnEndpoint()).begin("book a table please", 1)
    call.give(VOICE, SpeechEnded(1), Final("book a table please", utterance=1))
    for _ in range(40):
        call.give(VoiceFrame(0.01, 0.0, 32, 600, 1)).wait(32)
    assert call.asked == ["book a table please"]


def test_the_features_of_a_pause_decide_how_long_to_wait() -> None:
    call = HeardCall().give(SpeechBegan(1), VOICE, SpeechEnded(1), Final("Book a table, please.", utterance=1))
    assert call.hearing.wait is None
    call.give(Pause(SURE, 64, 1))
    assert call.hearing.pause == SURE
    assert call.hearing.wait is not None
    assert call.hearing.wait.wait_ms is not None
    assert call.wait(call.hearing.wait.wait_ms).asked == ["Book a table, please."]


def test_a_pause_of_an_earlier_utterance_is_ignored() -> None:
    call = HeardCall().give(SpeechBegan(1), SpeechBegan(2), Pause(SURE, 64, 1))
    assert call.hearing.pause is None


def test_a_voice_that_goes_on_forgets_the_pause() -> None:
    call = HeardCall().give(SpeechBegan(1), Pause(SURE, 64, 1), VOICE)
    assert call.hearing.pause is None


def test_the_agents_own_words_are_not_said_by_the_user() -> None:
    call = HeardCall().speak("the house is yours").wait(500).post(ev.PlaybackProgressed, heard_ms=500)
    call.begin("the house", 1)
    assert call.core.voice is Voice.HELD
    call.give(Final("the house", utterance=1))
    assert call.texts == {1: "hello"}
    assert call.core.voice is Voice.PLAYING


FLIGHTS = "there are two flights one leaves at nine and one leaves at noon"


def speaking_for(ms: int, profile: str = "words") -> HeardCall:
    """The agent has said so much of its text, a word every 200 ms, and goes on over every sound."""
    call = HeardCall(profile).speak(FLIGHTS)
    for heard_ms in range(200, ms + 1, 200):
        call.wait(200).post(ev.PlaybackProgressed, heard_ms=heard_ms)
    return call


def finish(call: HeardCall, words: int = len(FLIGHTS.split()), is_over: bool = True) -> HeardCall:
    """The agent says its text up to this word, and that is its end unless `is_over` is False."""
    for heard_ms in range(call.core.heard_ms + 200, 200 * words + 1, 200):
        call.wait(200).post(ev.PlaybackProgressed, heard_ms=heard_ms)
    if not is_over:
        return call
    return call.post(ev.ReplyFinished).post(ev.PlaybackFinished, heard_ms=200 * words)


@pytest.mark.req("H-12")
@pytest.mark.parametrize("heard", ["one leaves at noon", "one leafs at no", "and one at noon", ""])
@pytest.mark.parametrize("delay_ms", [60, 200, 400])
@pytest.mark.parametrize("with_partials", [True, False])
def test_an_echo_that_outlasts_the_sound_is_no_turn(heard: str, delay_ms: int, with_partials: bool) -> None:
    """The echo of the last words begins before the sound's end, and is read half a second after it."""
    call = speaking_for(1_800).wait(delay_ms)
    call.give(SpeechBegan(1))
    if with_partials:
        finish(call, 12, is_over=False).wait(50).give(Partial("one leaves", 0.8, utterance=1))
    finish(call).wait(delay_ms).give(SpeechEnded(1)).wait(500).give(Final(heard, 0.9, utterance=1)).wait(4_000)
    assert call.asked == ["hello"]
    assert call.texts == {1: "hello"}
    assert call.core.user is User.QUIET


@pytest.mark.req("H-12")
@pytest.mark.parametrize("after_ms", [0, 100, 200])
def test_an_echo_that_begins_after_the_sound_has_ended_is_no_turn(after_ms: int) -> None:
    """The last two words began 400 ms before the sound's end."""
    call = finish(speaking_for(2_200)).wait(after_ms)
    call.give(SpeechBegan(1)).wait(300).give(SpeechEnded(1)).wait(300).give(Final("at noon", 0.9, utterance=1))
    assert call.wait(4_000).asked == ["hello"]


@pytest.mark.req("H-12", "H-06.early")
def test_a_person_who_answers_with_the_agents_words_after_hearing_them_is_asked_about() -> None:
    call = finish(speaking_for(2_200)).wait(900)
    assert call.say("at noon").wait(3_000).asked == ["hello", "at noon"]


@pytest.mark.req("H-12", "V-04")
@pytest.mark.parametrize("profile", ["words", "confirm"])
def test_a_person_who_is_transcribed_together_with_an_echo_is_asked_about_without_it(profile: str) -> None:
    call = speaking_for(1_600, profile).wait(100)
    call.give(SpeechBegan(1)).wait(300)
    call.give(Partial("leaves at nine stop", 0.9, utterance=1), Partial("leaves at nine stop it", 0.9, utterance=1))
    call.give(Partial("leaves at nine stop it please", 0.9, utterance=1)).wait(200)
    assert call.core.voice is not Voice.PLAYING
    call.post(ev.PlaybackStopped, heard_ms=1_800)
    call.give(SpeechEnded(1), Final("leaves at nine. Stop it, please.", 0.9, utterance=1)).wait(3_000)
    assert call.texts[2] == "Stop it, please."
    assert call.asked[-1] == "Stop it, please."


@pytest.mark.req("H-12", "V-02")
@pytest.mark.parametrize("profile", ["words", "confirm"])
@pytest.mark.parametrize("heard", ["leaves at nine, yeah", "one leaves at nine mhm", "leafs at nine. Okay."])
def test_a_backchannel_does_not_interrupt_because_of_an_echo_around_it(profile: str, heard: str) -> None:
    call = speaking_for(1_600, profile).wait(100)
    call.give(SpeechBegan(1)).wait(300).give(Partial(heard, 0.9, utterance=1), SpeechEnded(1)).wait(100)
    call.give(Final(heard, 0.9, utterance=1)).wait(50)
    assert call.core.voice is Voice.PLAYING
    assert not [one for one in call.intents(it.JudgeOverlap) if one.bid]


def test_a_late_report_marks_the_words_of_a_reply_as_handled() -> None:
    call = HeardCall().say("book it").wait(401)
    reply = call.core.reply_id
    assert call.hearing.words.of(1).handled == ""
    assert call.give(inp.HeardLate(0, reply)).hearing.words.of(1).handled == "book it"


def test_the_end_of_a_voice_says_how_long_ago_it_fell_silent() -> None:
    call = HeardCall().give(SpeechBegan(1)).wait(600).give(SpeechEnded(1, quiet_ms=192))
    assert call.intents(it.StopSpeech) == [it.StopSpeech(192)]


def test_a_voice_under_the_button_is_not_told() -> None:
    call = HeardCall().give(inp.ButtonPressed(0), SpeechBegan(1), SpeechEnded(1), inp.ButtonReleased(0))
    assert not call.intents(it.BeginSpeech)
    assert not call.intents(it.StopSpeech)
    assert not call.hearing.button


def test_a_voice_that_goes_on_after_the_release_is_no_new_onset() -> None:
    call = HeardCall().give(inp.ButtonPressed(0), SpeechBegan(1), inp.ButtonReleased(0))
    assert not call.hearing.speaking
    assert call.give(SpeechEnded(1)).intents(it.StopSpeech) == []


def test_the_end_of_a_voice_that_is_reported_before_its_onset_ends_it() -> None:
    call = HeardCall().wait(1_000).give(SpeechEnded(1), SpeechBegan(1), Final("book it", utterance=1)).wait(2_000)
    assert call.core.user is User.QUIET
    assert call.asked == ["book it"]


def test_an_end_before_the_onset_of_another_utterance_ends_nothing() -> None:
    call = HeardCall().wait(1_000).give(SpeechEnded(1), SpeechBegan(2)).wait(1_000)
    assert call.hearing.speaking


@pytest.mark.parametrize("first", [Partial("go", utterance=1), Final("go on", utterance=1)])
def test_an_onset_that_is_reported_after_its_text_begins_nothing_anew(first: Partial | Final) -> None:
    call = HeardCall().give(first, SpeechBegan(1), Final("go on", utterance=1), SpeechEnded(1)).wait(5_000)
    assert call.asked == ["go on"]
    assert call.core.user is User.QUIET


def test_an_onset_without_a_number_that_is_reported_after_its_text_begins_nothing_anew() -> None:
    call = HeardCall().give(Partial("go on")).wait(100).give(SpeechBegan()).wait(300)
    call.give(SpeechEnded(), Final("go on")).wait(5_000)
    assert call.asked == ["go on"]


def test_ears_that_number_ends_wrongly_do_not_cut_the_next_voice_off() -> None:
    call = HeardCall().give(SpeechBegan(1)).wait(400).give(SpeechEnded(2), Final("hi", utterance=1)).wait(3_000)
    call.give(SpeechBegan(2)).wait(100)
    assert call.core.user is User.TALKING
    assert call.hearing.speaking


def test_an_end_without_an_onset_is_forgotten_after_a_while() -> None:
    call = HeardCall().give(SpeechEnded(1)).wait(60_000).give(SpeechBegan(1)).wait(100)
    assert call.core.user is User.TALKING


def test_the_end_of_the_next_voice_ends_this_one() -> None:
    call = HeardCall().give(SpeechBegan(1)).wait(400).give(SpeechEnded(2))
    assert not call.hearing.speaking
    assert call.intents(it.StopSpeech)


def test_a_voice_never_ends_before_it_began() -> None:
    call = HeardCall().wait(1_000).give(SpeechBegan(1)).wait(100).give(SpeechEnded(1, quiet_ms=900))
    assert call.hearing.ended_at == call.hearing.began_at


def answered(**changes: Any) -> HeardCall:
    """The agent answers the user's first words aloud."""
    settings = profile("words", greets=False, dead_air_ms=0, **changes)
    return HeardCall("words", settings=settings).say("hello there", 1).wait(1_000)


def words_of(text: str) -> tuple[SpokenWord, ...]:
    return tuple(SpokenWord(word, 200 * place, 200 * place + 200) for place, word in enumerate(text.split()))


@pytest.mark.req("H-14")
@pytest.mark.parametrize("is_reported", [True, False])
def test_a_yes_that_had_ended_before_the_question_began_does_not_answer_it(is_reported: bool) -> None:
    """The end of the "yes" is reported before the question, and its onset during the question or never."""
    call = answered().give(SpeechEnded(2), inp.AgentAsks(0, 1)).post(ev.AudioBuffered)
    call.give(inp.AgentSpoke(0, words_of("shall i book it now"), inp.QuestionSpan(0, 1_000)))
    call.wait(700).post(ev.PlaybackProgressed, heard_ms=700)
    if is_reported:
        call.give(SpeechBegan(2))
    call.wait(300).post(ev.PlaybackFinished, heard_ms=1_000).wait(100).give(Final("yes", utterance=2)).wait(2_000)
    assert is_premature(call.hearing, call.core.answered + 1, call.core.said)


@pytest.mark.req("H-12")
@pytest.mark.parametrize("is_end_reported", [True, False])
def test_an_echo_whose_onset_was_lost_is_no_turn(is_end_reported: bool) -> None:
    call = answered().post(ev.AudioBuffered)
    call.give(inp.AgentSpoke(0, words_of("your table is booked for nine tomorrow"))).wait(1_500)
    if is_end_reported:
        call.give(SpeechEnded(2))
    call.wait(100).post(ev.PlaybackFinished, heard_ms=1_600).wait(400)
    call.give(Final("table is booked for nine tomorrow", utterance=2)).wait(3_000)
    assert call.asked == ["hello there"]
