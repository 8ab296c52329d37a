"""Whoever writes without spaces can interrupt too."""

from __future__ import annotations

import pytest

from duologue.turns.words import count, words_of


@pytest.mark.req("V-02")
@pytest.mark.parametrize(
    ("text", "words"),
    [("你好我想订一张桌子", 5), ("ちょっと待ってください", 6), ("ขอโทษครับ", 5), ("等", 1), ("请book一张table", 4)],
)
def test_a_sentence_without_spaces_is_more_than_one_word(text: str, words: int) -> None:
    assert count(text).words == words


@pytest.mark.req("V-02")
def test_words_with_spaces_are_what_they_were() -> None:
    assert words_of("Don't stop, mm-hmm: the U.S. café") == ["don't", "stop", "mm-hmm", "the", "u.s", "café"]
