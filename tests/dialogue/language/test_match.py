"""Pieces of a reply, and whether two of them share a token."""

from __future__ import annotations

import pytest

from duologue.dialogue.language.match import Match, Span, overlaps


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (Span(0, 2), Span(2, 4), False),  # next to each other
        (Span(0, 3), Span(2, 4), True),
        (Span(1, 2), Span(0, 4), True),  # inside
        (Span(0, 1), Span(3, 4), False),
    ],
)
def test_two_pieces_overlap_if_they_share_a_token(one: Span, other: Span, shared: bool) -> None:
    assert overlaps(one, other) is overlaps(other, one) is shared
    assert overlaps(Match(*one, (1,)), other) is shared
