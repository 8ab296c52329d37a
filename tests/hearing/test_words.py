"""The words of the user have one owner: what was said, in which turn, and what became of it."""

from __future__ import annotations

from duologue.core import events as ev
from duologue.hearing import inputs as inp
from duologue.hearing.words import Fate, SaidWords, TurnMark, hear, recent, store_typed
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from tests.hearing.heard_calls import HeardCall


def test_the_same_final_text_of_a_turn_gets_the_same_content() -> None:
    words, first = hear(SaidWords(), 1, 1, "book it", 1.0, is_final=True)
    words, again = hear(words, 1, 1, "book it", 1.0, is_final=True)
    words, other = hear(words, 1, 1, "book them", 1.0, is_final=True)
    assert (first, again, other) == (1, 1, 2)
    assert hear(words, 1, 1, "book", 1.0, is_final=False)[1] == 0


def test_words_that_are_taken_back_and_said_again() -> None:
    words, _ = hear(SaidWords(), 1, 1, "book", 1.0, is_final=False)
    words, _ = hear(words, 1, 1, "", 1.0, is_final=True)
    assert words.of(1).mark is TurnMark.TAKEN_BACK
    words, _ = hear(words, 1, 2, "now", 1.0, is_final=True)
    assert (words.of(1).mark, words.text_of(1)) == (TurnMark.NONE, "now")


def test_a_turn_goes_from_open_over_asked_to_answered() -> None:
    call = HeardCall().say("book it")
    assert call.fate(1) is Fate.OPEN
    assert call.wait(401).fate(1) is Fate.ASKED
    assert call.post(ev.ReplyFinished).fate(1) is Fate.ANSWERED
    assert call.hearing.words.of(1).handled == "book it"


def test_words_of_a_call_that_ends_are_lost() -> None:
    assert HeardCall().begin("book it", 1).post(ev.EndRequested).fate(1) is Fate.LOST


def test_typed_text_waits_for_its_turn() -> None:
    words, content = store_typed(SaidWords(), "hello")
    assert words.typed == ((content, "hello"),)
    call = HeardCall().give(inp.Typed(0, "hello"))
    assert call.hearing.words.typed == ()
    assert call.texts == {1: "hello"}


def test_late_words_for_an_earlier_overheard_turn_are_given_with_the_next_request() -> None:
    call = HeardCall().speak().give(SpeechBegan(1), SpeechEnded(1)).wait(1_200).give(Partial("um", utterance=1))
    assert call.fate(2) is Fate.OVERHEARD
    call.post(ev.PlaybackFinished, heard_ms=1_200).say("and mine", 2).wait(401)
    call.give(Final("book it", utterance=1)).wait(50)
    assert call.asked[-1] == "book it and mine"


def test_what_the_brain_was_given_stays_if_the_final_text_is_empty() -> None:
    call = HeardCall().begin("book it", 1).give(SpeechEnded(1)).post(ev.SendPressed).wait(601)
    assert call.give(Final("", utterance=1)).texts == {1: "book it"}


def test_a_restored_conversation_keeps_its_newest_turns() -> None:
    turns = tuple(SaidWords().of(turn) for turn in range(200))
    assert recent(turns, answered=199) == turns[-50:]


def test_a_restored_conversation_keeps_every_turn_without_an_answer() -> None:
    turns = tuple(SaidWords().of(turn) for turn in range(200))
    assert recent(turns, answered=99) == turns[100:]
