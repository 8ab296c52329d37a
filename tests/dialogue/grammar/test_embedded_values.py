"""Values in messages that aren't wholly understood, read with the engine."""

from __future__ import annotations

from duologue.dialogue.grammar.embedded_values import is_all_values, read_first, read_parts, unsettled_slots
from duologue.dialogue.language.readings import Question, Slot, SlotKind
from tests.dialogue.grammar.lexicons import GERMAN

TODAY = "2026-03-04"
DAY, TIME, PEOPLE = Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME), Slot("people", SlotKind.NUMBER)


def test_clear_values_are_taken() -> None:
    assert [one.slot for one in read_parts(GERMAN, (DAY, TIME), "am Freitag mit Pizza", TODAY)] == ["day"]
    assert read_parts(GERMAN, (DAY, TIME), "nicht am Freitag mit Pizza", TODAY) == ()


def test_a_preferred_day_of_a_week_is_taken_and_a_day_beside_a_month_isnt() -> None:
    found = read_parts(GERMAN, (DAY, TIME), "mit Pizza nächste Woche, am liebsten Dienstag", TODAY)
    assert [one.value for one in found] == ["2026-03-10"]
    assert read_parts(GERMAN, (DAY, TIME), "mit Pizza im Juni, am liebsten am 3.", TODAY) == ()


def test_days_that_cant_be_taken_are_named() -> None:
    assert unsettled_slots(GERMAN, (DAY, TIME), "einen Tisch am Wochenende", TODAY) == ("day",)
    assert unsettled_slots(GERMAN, (DAY, TIME), "einen Tisch am Montag oder am Dienstag", TODAY) == ("day",)
    assert unsettled_slots(GERMAN, (DAY, TIME), "einen Tisch am Montag mit Pizza", TODAY) == ()
    assert unsettled_slots(GERMAN, (DAY, TIME), "einen Tisch", TODAY) == ()


def test_a_number_before_an_explanation() -> None:
    found = read_first(GERMAN, Question(PEOPLE), "zwei, mit meinem Hund", TODAY)
    assert found is not None
    assert found.value == 2
    assert read_first(GERMAN, Question(PEOPLE), "zwei, vielleicht drei", TODAY) is None


def test_a_message_of_values_only() -> None:
    assert is_all_values(GERMAN, "am Freitag um drei", TODAY)
    assert not is_all_values(GERMAN, "am Freitag Pizza", TODAY)


def test_one_amount_of_several_is_not_picked_out() -> None:
    amount = Slot("amount", SlotKind.MONEY)
    assert read_parts(GERMAN, (amount,), "sechzig Euro für das Hotel und zwanzig für das Taxi", TODAY) == ()
    assert [one.slot for one in read_parts(GERMAN, (amount,), "sechzig Euro für das Hotel", TODAY)] == ["amount"]
