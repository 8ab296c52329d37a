"""The new words of a turn: counted, so that rewritten words are never given twice."""

from __future__ import annotations

import pytest

from duologue.ports.spoken_words import count_words, new_words


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("", "book a table", "book a table"),
        ("book a table", "book a table for two", "for two"),
        ("book a tale", "book a table for two", "for two"),
        ("book a table", "book a table", ""),
        ("book a table for", "book a table", ""),
    ],
)
def test_the_words_behind_the_known_ones_are_new(before: str, after: str, new: str) -> None:
    assert new_words(after, count_words(before)) == new


def test_a_text_of_which_nothing_is_known_is_unchanged() -> None:
    assert new_words("  two  spaces ", 0) == "  two  spaces "
