"""A token, its span and its words."""

from __future__ import annotations

from duologue.dialogue.language.tokens import Token, span_of, words_of

TWO = (Token("Am", "am", 0, 2, ""), Token("Freitag", "freitag", 3, 10, ""))


def test_tokens_know_where_they_are() -> None:
    assert span_of(TWO, 0, 2) == (0, 10)
    assert words_of(TWO) == ("am", "freitag")
