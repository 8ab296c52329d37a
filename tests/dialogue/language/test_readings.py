"""Readings and the values in them."""

from __future__ import annotations

from duologue.dialogue.english import Direct, Question, Slot, SlotKind, read


def test_a_direct_reading_gives_the_value_of_each_slot() -> None:
    people, day = Slot("people", SlotKind.NUMBER), Slot("day", SlotKind.DATE)
    reading = read(Question(people, others=(day,)), "two people on Friday", "2026-03-04")
    assert isinstance(reading, Direct)
    assert reading.value_of("people") == 2
    assert reading.value_of("day") == "2026-03-06"
    assert reading.value_of("time") is None
