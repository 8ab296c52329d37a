"""Numbers as people say them, and meters that are read out."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from tests.dialogue.english.grammar_replies import ask, said

NUMBER = ask(SlotKind.NUMBER, "How many tickets would you like?", "tickets")


@pytest.mark.req("D-04", "D-06")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "2": 2,
        "just one": 1,
        "zero": 0,
        "twenty one": 21,
        "twenty-one, please": 21,
        "a couple of tickets": 2,
        "a couple": 2,
        "half a dozen": 6,
        "two dozen": 24,
        "a hundred and five": 105,
        "one thousand four hundred and seventy": 1470,
        "two hundred thousand": 200_000,
        "1,110": 1110,
        "2.5": 2.5,
        "two and a half": 2.5,
        "5 thousand": 5000,
        "I'd like three tickets": 3,
        "there are four of us": 4,
        "tickets for two people": 2,
        "um, I only need 1 ticket": 1,
        "Find a good one for two people": 2,
        "two and a half thousand": 2500,
        "half a million": 500_000,
        "one point five million": 1_500_000,
    }.items(),
)
def test_a_number_as_people_say_it(reply: str, value: float) -> None:
    assert said(NUMBER, reply) == value


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply",
    [
        "two tickets and one room",
        "three rooms",
        "me and some friends",
        "not two",
        "two tickets on Friday",
        "more than two",
        "five six",
        "a few",
    ],
)
def test_a_number_that_isnt_plain_is_for_nlu(reply: str) -> None:
    assert said(NUMBER, reply) is None


def test_a_number_that_may_be_thousands_asks_back() -> None:
    assert said(ask(SlotKind.NUMBER), "1.200") == [1200, 1.2]
    assert said(ask(SlotKind.NUMBER), "1.25") == 1.25


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "number"),
    {
        "two three four one one": 23411,
        "it's 2 3 4, 1 1": 23411,
        "23411 point 5": 23411.5,
        "two point five": 2.5,
        "two, three, four, five": None,
        "twenty three something": None,  # past bug: 23
    }.items(),
)
def test_a_meter_is_read_out_as_people_do(reply: str, number: float | None) -> None:
    assert said(ask(SlotKind.NUMBER, "What does the meter say?", "reading"), reply) == number


@pytest.mark.req("D-04")
def test_thousands_may_be_separated_by_a_space() -> None:
    meter = ask(SlotKind.NUMBER, "What does the meter say?", "reading")
    assert said(meter, "12 345") == 12345
    assert said(meter, "12 34") is None


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize("reply", ["the thirty first", "on the twenty second"])
def test_the_beginning_of_an_ordinal_is_no_count(reply: str) -> None:
    assert said(NUMBER, reply) is None
