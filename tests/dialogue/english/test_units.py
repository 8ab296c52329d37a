"""What a number counts."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Question, Slot, SlotKind, read_parts
from duologue.dialogue.english.numbers import find_numbers
from duologue.dialogue.english.tokens import stem, tokens_of
from duologue.dialogue.english.units import (
    CLASS_OF,
    classes_asked,
    counts_children,
    find_rate,
    period_asked,
    with_units,
)
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, said


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "count"),
    {"none": 0, "no kids": 0, "no children, thanks": 0, "no, two": 2, "no idea": None, "one two": None}.items(),
)
def test_a_count_may_be_zero(reply: str, count: int | None) -> None:
    assert said(ask(SlotKind.NUMBER, "And how many children?", "children"), reply) == count
    assert said(ask(SlotKind.NUMBER, "How many suitcases?", "luggage", may_be_any=True), "no bags") == 0


@pytest.mark.parametrize(
    ("reply", "counted", "words"),
    [
        ("$40", "money", "$40"),
        ("three bed rooms", "beds", "three bed rooms"),
        ("two whole days", "time", "two whole days"),
        ("four of us", "people", "four of us"),
        ("four, people say", None, "four"),
    ],
)
def test_a_number_takes_the_word_for_what_it_counts(reply: str, counted: str | None, words: str) -> None:
    tokens = tokens_of(reply)
    (match,) = with_units(tokens, list(find_numbers(tokens)))
    assert CLASS_OF.get(match.unit) == counted
    assert reply[tokens[match.first].start : tokens[match.after - 1].end] == words


def test_what_is_counted_comes_from_the_question_and_the_name_of_the_slot() -> None:
    assert list(classes_asked(ask(SlotKind.NUMBER, "How many nights will you stay?", "guests"))) == ["time", "people"]
    assert list(classes_asked(ask(SlotKind.NUMBER, "How long?", "it"))) == ["time"]
    assert counts_children("number_of_kids")
    assert not counts_children("child_seats")


def test_a_rate_is_found_unless_the_question_asks_for_it() -> None:
    tokens = tokens_of("ten a month")
    (match,) = find_numbers(tokens)
    assert find_rate(tokens, match, frozenset()) == range(1, 3)
    assert not find_rate(tokens, match, frozenset({stem("month")}))


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("reply", "count"),
    {
        "three weeks": 21,
        "a fortnight": 14,
        "72 hours": 3,
        "a week": 7,
        "five": 5,
        "six days": 6,
        "two months": None,  # no whole number of days
        "two hours a day": None,
        "a week or ten days": [7, 10],
    }.items(),
)
def test_a_length_of_time_is_counted_in_the_unit_that_was_asked_for(reply: str, count: int | list[int] | None) -> None:
    assert said(ask(SlotKind.NUMBER, "For how many days?", "days"), reply) == count


@pytest.mark.req("D-04", "D-05")
def test_a_volunteered_length_of_time_is_counted_in_the_unit_of_its_slot() -> None:
    days, rooms = Slot("days", SlotKind.NUMBER), Slot("rooms", SlotKind.NUMBER)
    found = read_parts((rooms, days), "we'd like it for three weeks with our dog", WEDNESDAY)
    assert [(one.slot, one.value) for one in found] == [("days", 21)]
    assert period_asked(Question(rooms, "How many rooms?")) == ""


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["two weeks", "30 euros", "two red ones and two blue ones", "a tandem and two bikes"])
def test_another_unit_or_a_sum_is_not_the_count_that_was_asked_for(reply: str) -> None:
    asked = ask(SlotKind.NUMBER, "How many bikes?", "bikes")
    assert said(asked, reply) is None
    assert said(asked, "two, yes two bikes") == 2
