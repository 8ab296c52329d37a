"""Conditions of branches and loops."""

from __future__ import annotations

from duologue.dialogue.conditions import parse


def test_a_condition_lists_its_constants() -> None:
    assert parse('amount > 100 and currency == "EUR" or not is_new').constants == (100, "EUR")
    assert parse("is_free == false").constants == ()
