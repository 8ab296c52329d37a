"""Choices from a short list, by name and by position."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Direct, Question, Slot, SlotKind, read
from tests.dialogue.english.grammar_replies import one_of, said

SEATS = one_of("Aisle", "Window", "Extra legroom")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "window": "Window",
        "A window seat, please": "Window",
        "I'd prefer the aisle": "Aisle",
        "extra legroom would be great": "Extra legroom",
        "the second one": "Window",
        "the last": "Extra legroom",
        "the last one please": "Extra legroom",
        "number two": "Window",
        "option c": "Extra legroom",
        "the first option": "Aisle",
        "windows": "Window",
    }.items(),
)
def test_a_choice_by_name_or_place(reply: str, value: str) -> None:
    assert said(SEATS, reply) == value


@pytest.mark.parametrize(
    "reply",
    [
        "not the window",
        "the fourth one",
        "first I want to know the price",
        "the big one",
        "both",
        "middle",
    ],
)
def test_a_reply_without_exactly_one_choice_is_for_nlu(reply: str) -> None:
    assert said(SEATS, reply) is None


def test_the_former_and_the_latter() -> None:
    pair = one_of("Morning", "Evening")
    assert said(pair, "the former") == "Morning"
    assert said(pair, "the latter, please") == "Evening"


def test_a_choice_by_what_else_it_is_called() -> None:
    slot = Slot("account", SlotKind.CHOICE, choices=(Choice("checking", ("current", "everyday")), Choice("savings")))
    assert said(Question(slot), "my everyday account") == "checking"


def test_a_longer_choice_wins_over_its_part() -> None:
    assert said(one_of("Economy", "Premium Economy"), "premium economy please") == "Premium Economy"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "values"),
    {
        "the large one": {"size": "large"},
        "a large one please": {"size": "large"},
        "one large": {"size": "large", "count": 1},
        "two large ones": {"size": "large", "count": 2},
    }.items(),
)
def test_the_large_one_is_not_a_count(reply: str, values: dict[str, object]) -> None:
    size, count = (
        Slot("size", SlotKind.CHOICE, choices=(Choice("small"), Choice("large"))),
        Slot("count", SlotKind.NUMBER),
    )
    reading = read(Question(size, others=(count,)), reply, "2026-03-04")
    assert isinstance(reading, Direct)
    assert {value.slot: value.value for value in reading.values} == values


@pytest.mark.req("D-05")
def test_the_last_name_is_no_position_in_a_list() -> None:
    assert said(SEATS, "no, the last name is missing") is None
    assert said(SEATS, "the first letter is wrong") is None
    assert said(SEATS, "the last one") == "Extra legroom"


@pytest.mark.req("D-04", "D-05")
def test_a_choice_of_several_words_may_be_in_the_plural_and_two_of_them_are_never_one() -> None:
    boats = one_of("rowing boat", "sailing boat")
    assert said(boats, "rowing boats please") == "rowing boat"
    assert said(boats, "rowing boats for us and sailing boats for the others") is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"), [("the late one", None), ("that cheap one", None), ("one", "One"), ("at one please", "One")]
)
def test_a_one_that_stands_for_a_thing_is_not_the_choice_one(reply: str, value: str | None) -> None:
    assert said(one_of("One", "Half past three"), reply) == value
