"""What the server hears of the user, as events of ears."""

from __future__ import annotations

from duologue.brains.realtime import server_events as hp
from duologue.brains.realtime.utterances import UNTRANSCRIBED, Utterances
from duologue.ports import Final, Partial, SpeechBegan, SpeechEnded, TurnOver

# -- What was heard


def test_an_utterance_becomes_the_events_of_ears() -> None:
    ears = Utterances(quiet_ms=500)
    events = [
        heard
        for happened in (
            hp.SpeechOn("i"),
            hp.SpeechOn("i"),
            hp.SpeechOff("i"),
            hp.AudioCommitted("i"),
            hp.Transcribing("i", "book "),
            hp.Transcribing("i", "it"),
            hp.Transcribed("i", "Book it."),
            hp.Transcribed("i", "Book it."),
        )
        for heard in ears.take(happened)
    ]
    assert events == [
        SpeechBegan(1),
        SpeechEnded(1, 500),
        TurnOver(1),
        Partial("book", utterance=1),
        Partial("book it", utterance=1),
        Final("Book it.", utterance=1),
    ]
    assert not ears.is_open


def test_events_in_the_wrong_order_still_begin_with_an_onset() -> None:
    ears = Utterances()
    assert ears.take(hp.AudioCommitted("i")) == [SpeechBegan(1), SpeechEnded(1), TurnOver(1)]
    assert ears.take(hp.SpeechOff("i")) == []
    assert ears.take(hp.SpeechOn("i")) == []


def test_speech_that_was_not_transcribed_still_gets_a_final() -> None:
    ears = Utterances()
    ears.take(hp.SpeechOn("i"))
    assert ears.take(hp.Untranscribed("i")) == [Final(UNTRANSCRIBED, utterance=1)]


def test_a_lost_session_leaves_no_utterance_open() -> None:
    ears = Utterances()
    ears.take(hp.SpeechOn("i"))
    ears.take(hp.Transcribing("i", "book a"))
    assert ears.lose() == [SpeechEnded(1), Final("book a", utterance=1)]
    assert not ears.is_open
    assert ears.take(hp.SpeechOn("j")) == [SpeechBegan(2)]


def test_audio_that_we_commit_gets_its_text_by_the_item_that_it_becomes() -> None:
    ears = Utterances(server_decides=False)
    assert ears.begin_unnamed() == [SpeechBegan(1)]
    assert ears.end_unnamed() == [SpeechEnded(1)]
    assert ears.take(hp.AudioCommitted("i")) == []
    assert ears.take(hp.Transcribed("i", "hello")) == [Final("hello", utterance=1)]
