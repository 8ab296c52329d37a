"""Durations and money in German and Spanish."""

from __future__ import annotations

import pytest

from duologue.dialogue.grammar.amounts import find_durations, find_money, iso_of
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


@pytest.mark.parametrize(
    ("text", "lasts"),
    [("anderthalb Stunden", "PT1H30M"), ("zwei Tage", "P2D"), ("eine Stunde und zehn Minuten", "PT1H10M")],
)
def test_durations(text: str, lasts: str) -> None:
    assert [match.candidates for match in find_durations(GERMAN, tokens(text))] == [(lasts,)]


def test_a_moment_is_no_duration() -> None:
    assert find_durations(GERMAN, tokens("in zwei Stunden")) == []


def test_units_are_written_in_order() -> None:
    assert iso_of({"M": 5, "Mo": 2, "H": 1}) == "P2MT1H5M"


def test_cents_follow_the_euros() -> None:
    spanish = find_money(SPANISH, tokens("doce euros con cincuenta", SPANISH), is_asked=False)
    assert spanish[0].candidates == ({"amount": 12.5, "currency": "EUR"},)
    assert find_money(GERMAN, tokens("fünf Euro fünfzig"), is_asked=False)[0].candidates[0] == {
        "amount": 5.5,
        "currency": "EUR",
    }


def test_a_bare_number_is_money_only_where_money_was_asked_for() -> None:
    assert find_money(GERMAN, tokens("zwanzig"), is_asked=False) == []
    assert find_money(GERMAN, tokens("zwanzig Personen"), is_asked=True) == []
