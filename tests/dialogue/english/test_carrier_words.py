"""Words that may stand around a plain answer."""

from __future__ import annotations

import pytest

from duologue.dialogue.english.carrier_words import is_carrier, is_negation, without_contraction


@pytest.mark.parametrize("word", ["please", "i'd", "booking", "tables", "would", "we've", "perfect"])
def test_a_carrier_is_known_by_itself_its_stem_or_its_contraction(word: str) -> None:
    assert is_carrier(word)


@pytest.mark.parametrize("word", ["two", "cheap", "friday", "vegan", "don't", "smith"])
def test_a_word_that_may_be_an_answer_is_not_a_carrier(word: str) -> None:
    assert not is_carrier(word)


def test_only_known_contractions_are_removed() -> None:
    assert without_contraction("they'll") == "they"
    assert without_contraction("o'brien") == "o'brien"
    assert without_contraction("table") == "table"


def test_negations_are_words_or_end_in_nt() -> None:
    assert all(map(is_negation, ("not", "never", "couldn't", "dont")))
    assert not any(map(is_negation, ("note", "yes", "ant")))
