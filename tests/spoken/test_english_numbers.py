"""English number words."""

from __future__ import annotations

import pytest

from duologue.spoken.english_numbers import cardinal, decimal, digits, ordinal, year


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"), (13, "thirteen"), (40, "forty"), (99, "ninety-nine"), (105, "one hundred five"),
        (1_000, "one thousand"), (21_012, "twenty-one thousand twelve"), (3_000_001, "three million one"),
        (-7, "minus seven"),
    ],
)  # fmt: skip
def test_a_whole_number_has_words(number: int, words: str) -> None:
    assert cardinal(number) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "first"), (12, "twelfth"), (20, "twentieth"), (23, "twenty-third"), (100, "one hundredth"), (8, "eighth")],
)
def test_a_place_has_words(number: int, words: str) -> None:
    assert ordinal(number) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1900, "nineteen hundred"), (1905, "nineteen oh five"), (2000, "two thousand"), (2009, "two thousand nine"),
        (2026, "twenty twenty-six"), (1066, "ten sixty-six"),
    ],
)  # fmt: skip
def test_a_year_is_said_in_two_halves(number: int, words: str) -> None:
    assert year(number) == words


def test_digits_are_said_one_by_one() -> None:
    assert digits("4-07") == "four zero seven"
    assert decimal("3.50") == "three point five zero"
    assert decimal("1" * 16) == " ".join(["one"] * 16)
