"""Numbers that are said as ordinals."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Direct, Question, Slot, SlotKind, read

FLOOR = Question(Slot("floor", SlotKind.NUMBER), "Which floor do you live on?")
COUNT = Question(Slot("count", SlotKind.NUMBER), "How many bikes?")


@pytest.mark.req("D-02")
@pytest.mark.parametrize(
    ("text", "floor"),
    {"third floor": 3, "the ground floor": 0, "on the second floor": 2, "2nd floor": 2}.items(),
)
def test_an_ordinal_with_the_noun_that_was_asked_for_is_a_number(text: str, floor: int) -> None:
    reading = read(FLOOR, text, "2026-03-04")
    assert isinstance(reading, Direct)
    assert reading.value_of("floor") == floor


@pytest.mark.parametrize("text", ["third floor", "the second one", "the third of May"])
def test_another_ordinal_is_no_number(text: str) -> None:
    assert not isinstance(read(COUNT, text, "2026-03-04"), Direct)
