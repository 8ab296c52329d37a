"""Texts for neural voices: parts, phoneme ids, and the times of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.voice.neural_text import (
    CHARS_MAX,
    FIRST_CHARS_MAX,
    inference_scales,
    parts_of,
    phoneme_ids,
    word_ends,
)

KNOWN = {"_": [0], "^": [1], "$": [2], " ": [3], ",": [4], ".": [5], "a": [6], "b": [7], "c": [8]}


@pytest.mark.req("T-08")
@given(st.lists(st.text(alphabet="ab,.", min_size=1, max_size=12), max_size=60).map(" ".join))
def test_parts_are_the_whole_text_and_the_first_is_short(text: str) -> None:
    parts = parts_of(text)
    assert " ".join(parts) == " ".join(text.split())
    assert all(len(part) <= CHARS_MAX for part in parts)
    assert not parts or len(parts[0]) <= FIRST_CHARS_MAX


def test_ids_have_pads_between_them_and_belong_to_words() -> None:
    ids = phoneme_ids("ab, c.", KNOWN, None, pads=True)
    assert ids.ids == (1, 0, 6, 0, 7, 0, 4, 0, 8, 0, 5, 0, 2)
    assert ids.owners == (0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1)


def test_phonemes_come_from_the_phonemizer_and_unknown_ones_are_left_out() -> None:
    asked = []

    def phonemes(clause: str) -> str:
        asked.append(clause)
        return "a x b"

    ids = phoneme_ids("one two three.", {key: KNOWN[key] for key in "ab. "}, phonemes, pads=False)
    assert asked == ["one two three"]
    assert ids.ids == (6, 3, 3, 7, 5)
    assert ids.owners == (0, 1, 2, 2, 2)


def test_words_end_where_their_phonemes_end() -> None:
    assert word_ends([0, 0, 1], [1, 1, 2], 2, 400) == [200, 400]
    assert word_ends([0, 0, 1], [], 2, 300) == [200, 300]  # lengths unknown
    assert word_ends([0, 2], [1, 1], 3, 100) == [50, 50, 100]  # the second word has no sound


def test_the_pace_changes_the_length_scale_alone() -> None:
    assert inference_scales({}, 2.0) == (0.667, 2.0, 0.8)
    assert inference_scales({"inference": {"length_scale": 1.5, "noise_w": 0.5}}, 1.0) == (0.667, 1.5, 0.5)
