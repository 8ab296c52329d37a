"""German number words."""

from __future__ import annotations

import pytest

from duologue.spoken.german_numbers import cardinal, decimal, digits, ordinal, year


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "eins"), (16, "sechzehn"), (21, "einundzwanzig"), (101, "einhunderteins"), (1_001, "eintausendeins"),
        (1_000_000, "eine Million"), (2_000_003, "zwei Millionen drei"), (-30, "minus dreißig"),
    ],
)  # fmt: skip
def test_a_whole_number_has_words(number: int, words: str) -> None:
    assert cardinal(number) == words


def test_one_agrees_with_the_noun_after_it() -> None:
    assert [cardinal(1, one) for one in ("ein", "eine")] == ["ein", "eine"]
    assert cardinal(101, "ein") == "einhundertein"


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "erste"),
        (3, "dritte"),
        (7, "siebte"),
        (8, "achte"),
        (19, "neunzehnte"),
        (20, "zwanzigste"),
        (101, "einhunderterste"),
    ],
)
def test_a_place_has_words(number: int, words: str) -> None:
    assert ordinal(number, "e") == words


def test_a_year_is_said_in_hundreds_before_two_thousand() -> None:
    assert year(1990) == "neunzehnhundertneunzig"
    assert year(2026) == "zweitausendsechsundzwanzig"


def test_digits_are_said_one_by_one() -> None:
    assert digits("0-49") == "null vier neun"
    assert decimal("3,50") == "drei Komma fünf null"
