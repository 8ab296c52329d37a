"""Texts with gaps, and values as people say them."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import ANY, SlotKind
from duologue.dialogue.flow import Collect, Confirm, SlotSpec
from duologue.dialogue.templates import as_said, fill, gaps_of, spelled, spoken
from tests.dialogue.dialogue_flows import (
    talk,
)


def test_a_skipped_value_is_never_said_as_its_code() -> None:
    # Past bug: it asks for a table "at dontcare".
    hour = SlotSpec("hour", SlotKind.TIME, "When?", is_optional=True)
    talker = talk(Collect("hour", "hour"), Confirm("sure", "A table at {hour}?"), slots=(hour,)).says("skip")
    assert ANY not in talker.said


@pytest.mark.parametrize(
    ("value", "words"),
    {"PT30M": "30 minutes", "PT1H30M": "1 hour and 30 minutes", "P2D": "2 days", "P1W": "1 week", "PT": "PT"}.items(),
)
def test_a_duration_is_said_in_words(value: str, words: str) -> None:
    assert spoken(value) == words


def test_an_address_is_spelled_up_to_its_at_sign() -> None:
    assert spelled("anna.k@example.com") == "a n n a . k at example.com"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("2026-03-09", "March 9"),
        ("2027-06-09", "June 9, 2027"),
        ("19:30", "7:30 pm"),
        ("00:00", "12 am"),
        (True, "yes"),
        (2.50, "2.5"),
        (None, ""),
        (["a", "b", "c"], "a, b or c"),
        ({"amount": 5, "currency": "EUR"}, "5 EUR"),
    ],
)
def test_a_value_is_said_as_people_say_it(value: object, words: str) -> None:
    assert spoken(value, "2026-03-04") == words


def test_gaps_are_filled_spelled_or_left_empty() -> None:
    assert gaps_of("{name}, {code:spelled} and {name}") == ("name", "code")
    assert fill("{name}: {code:spelled} {nothing} end", {"name": "Ann", "code": "AB12"}) == "Ann: A B 1, 2 end"


def test_nights_are_not_repeated_as_days() -> None:
    assert as_said("P2D", "two nights") == "2 nights"
    assert as_said("P2D", "two days") == "P2D"


@pytest.mark.parametrize(
    ("day", "words"),
    {
        "2026-03-10": "March 10",
        "2026-02-27": "February 27",
        "2026-12-24": "December 24",
        "2027-01-05": "January 5, 2027",
        "2027-03-03": "March 3, 2027",
        "1984-05-03": "May 3, 1984",
    }.items(),
)
def test_a_day_of_another_year_is_said_with_it(day: str, words: str) -> None:
    assert spoken(day, "2026-03-04") == words
    assert fill("born {day}", {"day": day}, "2026-03-04") == f"born {words}"


def test_a_dot_reads_a_part_of_a_value() -> None:
    values = {"order": {"total": 12, "items": ["tea", "cake"]}, "flight": "LH12", "flight.": {"price": 95}}
    assert fill("{order.total}, {order.items.1}, {flight} for {flight.price}", values) == "12, cake, LH12 for 95"
    assert fill("[{order.nothing}{order.items.7}{gone.x}]", values) == "[]"
    assert gaps_of("{order.total} {flight:spelled}") == ("order", "flight")
