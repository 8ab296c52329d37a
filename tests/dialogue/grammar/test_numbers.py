"""Numbers in digits and words."""

from __future__ import annotations

import pytest

from duologue.dialogue.grammar.numbers import cardinal_at, digits_of, find_numbers, number_at
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


@pytest.mark.parametrize(
    ("word", "number"),
    [("1.500", 1500), ("3,5", 3.5), ("1.250,75", 1250.75), ("12", 12), ("12:30", None), ("acht", None)],
)
def test_digits_have_decimal_commas_and_dots_between_thousands(word: str, number: float | None) -> None:
    assert digits_of(word) == number


def test_words_are_joined_only_where_the_language_joins_them() -> None:
    assert cardinal_at(SPANISH, tokens("treinta y uno", SPANISH), 0) == (31, 3)
    assert cardinal_at(SPANISH, tokens("dos mil quinientos", SPANISH), 0) == (2500, 3)
    assert cardinal_at(SPANISH, tokens("veinte cinco", SPANISH), 0) == (20, 1)
    assert cardinal_at(SPANISH, tokens("diez y cinco", SPANISH), 0) == (10, 1)
    assert cardinal_at(GERMAN, tokens("ein und zwanzig"), 0) == (21, 3)


def test_decimals_in_words() -> None:
    assert number_at(GERMAN, tokens("drei komma fünf"), 0) == (3.5, 3)


def test_a_label_a_bound_and_a_time_are_no_counts() -> None:
    for text in ("Zimmer 5", "über 80", "um vier", "8 Uhr"):
        assert find_numbers(GERMAN, tokens(text), is_asked=True) == []


def test_an_article_counts_only_before_what_is_counted() -> None:
    assert [match.candidates for match in find_numbers(GERMAN, tokens("eine Person"), is_asked=True)] == [(1,)]
    assert find_numbers(GERMAN, tokens("einen Tisch"), is_asked=True) == []
