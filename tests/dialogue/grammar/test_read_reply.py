"""Replies to questions, read with the engine."""

from __future__ import annotations

from duologue.dialogue.grammar.read_reply import read, read_volunteered
from duologue.dialogue.language.readings import (
    ANY,
    Ambiguous,
    Confirmation,
    Direct,
    Question,
    Slot,
    SlotKind,
    SpokenCommand,
    Unclear,
    Why,
)
from tests.dialogue.grammar.lexicons import GERMAN

TODAY = "2026-03-04"
DAY, TIME, PEOPLE = Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME), Slot("people", SlotKind.NUMBER)


def test_a_value_comes_with_its_span() -> None:
    reading = read(GERMAN, Question(DAY), "ja, am Freitag bitte", TODAY)
    assert isinstance(reading, Direct)
    assert (reading.values[0].raw, reading.values[0].span) == ("Freitag", (7, 14))


def test_a_word_that_isnt_understood_sends_the_reply_to_nlu() -> None:
    assert read(GERMAN, Question(DAY), "am Freitag mit Pizza", TODAY) == Unclear(Why.LEFTOVER, ("Pizza",))
    assert isinstance(read(GERMAN, Question(DAY), "", TODAY), Unclear)


def test_several_values_in_one_reply() -> None:
    reading = read(GERMAN, Question(DAY, others=(TIME, PEOPLE)), "am Freitag um drei für vier Personen", TODAY)
    assert isinstance(reading, Direct)
    assert {value.slot: value.value for value in reading.values} == {"day": "2026-03-06", "time": "15:00", "people": 4}


def test_commands_and_no_preference() -> None:
    assert read(GERMAN, Question(DAY), "einen Moment bitte", TODAY) == SpokenCommand("wait")
    optional = Slot("day", SlotKind.DATE, may_be_any=True)
    any_day = read(GERMAN, Question(optional), "egal", TODAY)
    assert isinstance(any_day, Direct)
    assert any_day.values[0].value == ANY
    assert isinstance(read(GERMAN, Question(optional), "nein danke", TODAY), Confirmation)


def test_a_yes_accepts_a_proposed_value() -> None:
    reading = read(GERMAN, Question(DAY, "Passt Freitag?", proposed="2026-03-06"), "ja, passt", TODAY)
    assert isinstance(reading, Direct)
    assert reading.values[0].value == "2026-03-06"


def test_one_of_the_offered_values() -> None:
    among = Question(TIME, "Meinen Sie 8 Uhr oder 20 Uhr?", among=("08:00", "20:00"))
    for said, time in (("abends", "20:00"), ("20 Uhr", "20:00"), ("das erste", "08:00"), ("morgens", "08:00")):
        reading = read(GERMAN, among, said, TODAY)
        assert isinstance(reading, Direct), said
        assert reading.values[0].value == time


def test_a_weekend_must_be_asked_about() -> None:
    reading = read(GERMAN, Question(DAY), "am Wochenende", TODAY)
    assert isinstance(reading, Ambiguous)
    assert reading.must_ask


def test_values_without_a_question() -> None:
    slots = (DAY, TIME)
    whole = read_volunteered(GERMAN, slots, "ich möchte am Freitag um drei kommen", "", TODAY)
    assert whole is not None
    assert len(whole.values) == 2
    assert read_volunteered(GERMAN, slots, "am Freitag mit Pizza", "", TODAY) is None
