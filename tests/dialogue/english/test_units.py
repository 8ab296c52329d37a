"""What a number counts."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.english.numbers import find_numbers
from duologue.dialogue.english.tokens import stem, tokens_of
from duologue.dialogue.english.units import CLASS_OF, classes_asked, counts_children, find_rate, with_units
from tests.dialogue.english.grammar_replies import ask, said


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
