"""Corrections that leave out the unit, the currency or the half of the day."""

from __future__ import annotations

import pytest

from duologue.dialogue.elliptic_corrections import nearest_time, with_currency_of, with_new_count
from duologue.dialogue.english import Json, Question, Slot, SlotKind, read
from duologue.dialogue.english.pack import ENGLISH

NINETY_EUROS: Json = {"amount": 90, "currency": "EUR"}


def test_money_without_a_currency_takes_that_of_the_old_value() -> None:
    assert with_currency_of({"amount": 95, "currency": None}, NINETY_EUROS) == {"amount": 95, "currency": "EUR"}
    assert with_currency_of({"amount": 95, "currency": "USD"}, NINETY_EUROS) == {"amount": 95, "currency": "USD"}
    assert with_currency_of({"amount": 95, "currency": None}, None) == {"amount": 95, "currency": None}
    assert with_currency_of(95, NINETY_EUROS) == 95


@pytest.mark.parametrize(
    ("before", "reply", "after"),
    [
        ("P3D", "make that four", "P4D"),
        ("PT2H", "three", "PT3H"),
        ("P3D", "four people", None),
        ("P3D", "zero", None),
        ("PT1H30M", "two", None),  # hours or minutes?
        (None, "four", None),
        ("P3D", "maybe", None),
    ],
)
def test_a_new_count_keeps_the_unit_of_the_old_duration(before: Json, reply: str, after: Json) -> None:
    count = read(Question(Slot("stay", SlotKind.NUMBER)), reply, "2026-03-04")
    assert with_new_count(count, before, ENGLISH.words) == after


@pytest.mark.parametrize(
    ("before", "time"), [("04:30", "04:00"), ("17:00", "16:00"), ("10:00", None), ("soon", None), (None, None)]
)
def test_of_two_times_the_one_near_the_old_time_is_meant(before: Json, time: Json) -> None:
    assert nearest_time(("04:00", "16:00"), before) == time
