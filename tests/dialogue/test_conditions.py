"""Conditions of branches and loops."""

from __future__ import annotations

import pytest

from duologue.dialogue.conditions import BadCondition, parse


def test_a_condition_lists_its_constants() -> None:
    assert parse('amount > 100 and currency == "EUR" or not is_new').constants == (100, "EUR")
    assert parse("is_free == false").constants == ()


@pytest.mark.parametrize(
    ("text", "values", "holds"),
    [
        ("amount > 100", {"amount": 101}, True),
        ("amount > 100", {"amount": None}, False),
        ("amount <= 100", {}, False),
        ("amount > 100", {"amount": "many"}, False),
        ("amount is none", {}, True),
        ("amount == -5", {"amount": -5}, True),
        ("1 < amount < 5", {"amount": 3}, True),
        ("1 < amount < 5", {"amount": 5}, False),
        ('currency in ["EUR", "USD"] and not is_new', {"currency": "EUR", "is_new": False}, True),
        ('"EU" in currency', {"currency": "EUR"}, True),
        ('currency not in ["EUR"] or is_new == true', {"currency": "EUR", "is_new": True}, True),
    ],
)
def test_a_condition_is_evaluated_over_slots(text: str, values: dict[str, object], holds: bool) -> None:
    assert parse(text).holds(values) is holds


def test_a_condition_names_the_slots_that_it_reads_once() -> None:
    assert parse("amount > 100 and (amount < limit or is_new == true)").names == ("amount", "limit", "is_new")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("amount >", "'amount >' isn't a valid condition; write for example: amount > 100"),
        ("amount + 1 > 2", "'amount + 1' isn't allowed; use slots, values, comparisons, and, or, not"),
        ("__import__('os')", "\"__import__('os')\" isn't allowed; use slots, values, comparisons, and, or, not"),
        ("amount == b'1'", "b'1' can't be compared; use a text, a number, true, false or none"),
        ("a" * 501, "the condition has 501 characters; at most 500 are allowed"),
    ],
)
def test_anything_but_a_condition_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadCondition) as refusal:
        parse(text)
    assert str(refusal.value) == message
