"""N-grams: rare ones weigh more, unknown words shorten a vector, and the work is bounded."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.nlu.ngrams import SIZE, Grams, grams
from tests.nlu.restaurant_phrases import PHRASES


def test_grams_are_words_pairs_and_pieces() -> None:
    words, pieces = grams("Book it?")
    assert words == ["book", "it", "?", "book it", "it ?"]
    assert pieces == ["#_bo", "#boo", "#ook", "#ok_", "#_boo", "#book", "#ook_", "#_it", "#it_", "#_it_", "#_?_"]


@given(st.text(max_size=300))
def test_no_vector_is_longer_than_one_except_for_hash_collisions(text: str) -> None:
    vector = Grams(text for each in PHRASES for text in each).vector(text)
    assert all(0 <= place < SIZE for place in vector)
    assert math.sqrt(sum(value * value for value in vector.values())) < 1.5


def test_a_known_phrase_has_length_one_and_unknown_words_shorten_it() -> None:
    known = Grams(text for each in PHRASES for text in each)

    def length(text: str) -> float:
        return math.sqrt(sum(value * value for value in known.vector(text).values()))

    assert length("book a table") == pytest.approx(1, abs=0.1)
    assert length("book a zeppelin over Ulaanbaatar") < 0.8
    assert length("xyzzy qwfp") == 0


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    known = Grams(["the soup", "the fish", "the bill", "the menu"])
    assert known.rarity("soup") > known.rarity("the")


def test_the_work_for_a_message_is_bounded() -> None:
    words, pieces = grams("word " * 100_000)
    assert len(words) < 500
    assert len(pieces) < 2_000
