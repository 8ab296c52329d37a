"""German numbers in one word."""

from __future__ import annotations

import pytest

from duologue.dialogue.german.compound_numbers import compound_numbers
from duologue.spoken.german_numbers import cardinal
from tests.dialogue.grammar.lexicons import GERMAN


@pytest.mark.parametrize("number", [*range(2, 130), 200, 999, 1000, 1001, 1980, 2026, 21_021, 999_999])
def test_every_number_is_read_as_it_is_said(number: int) -> None:
    word = cardinal(number).replace(" ", "")
    if word not in ("hundert", "tausend"):
        assert GERMAN.number_of_word(GERMAN.fold(word)) == number


@pytest.mark.parametrize(
    "word", ["hund", "und", "ein", "hundert", "undzwanzig", "zwanzigundein", "tausendsassa", "einund"]
)
def test_other_words_are_no_numbers(word: str) -> None:
    assert GERMAN.number_of_word(word) is None


def test_the_simple_numbers_come_from_the_language() -> None:
    assert compound_numbers({"vier": 4, "zwanzig": 20})("vierundzwanzig") == 24
