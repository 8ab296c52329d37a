"""Replies in which the slot's grammar found no value."""

from __future__ import annotations

from duologue.dialogue.english.names import NameList
from duologue.dialogue.english.reply_context import ReplyContext
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.english.unlisted_values import misspelled, read_without_value
from duologue.dialogue.language.days import today_of
from duologue.dialogue.language.match import Match
from duologue.dialogue.language.readings import Ambiguous, Choice, Direct, Question, Slot, SlotKind, Unclear


def context(slot: Slot, reply: str, text: str = "") -> ReplyContext:
    return ReplyContext(Question(slot, text), reply, tokens_of(reply), today_of("2026-03-04"))


def test_an_open_name_is_taken_from_a_bare_reply() -> None:
    reading = read_without_value(context(Slot("guest", SlotKind.NAME), "Johnny Cash", "What's your name?"))
    assert isinstance(reading, Direct)
    assert reading.value_of("guest") == "Johnny Cash"


def test_free_text_ends_where_the_answer_ends() -> None:
    text = Slot("address", SlotKind.TEXT)
    assert isinstance(read_without_value(context(text, "Baker Street")), Direct)
    assert isinstance(read_without_value(context(text, "Baker Street, and please hurry")), Unclear)


def test_a_word_that_sounds_like_a_choice_is_asked_about() -> None:
    device = Slot("device", SlotKind.CHOICE, (Choice("router"), Choice("phone")))
    reading = read_without_value(context(device, "reader"))
    assert isinstance(reading, Ambiguous)
    assert (reading.candidates, reading.must_ask) == (("router",), True)


def test_a_name_with_one_misspelled_part() -> None:
    guest = Slot("guest", SlotKind.NAME, names=NameList.of(["Grace Hopper", "Ada Lovelace"]), is_open=False)
    c = context(guest, "Grace Hoper")
    found = misspelled(c, Match(0, 1, ("Grace Hopper",)), [1])
    assert isinstance(found, Direct)
    assert found.value_of("guest") == "Grace Hopper"
    assert misspelled(c, Match(0, 1, ("Ada Lovelace",)), [1]) is None
