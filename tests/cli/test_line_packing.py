"""Pieces of text are packed into lines that fit, and none is broken."""

from __future__ import annotations

from rich.text import Text

from duologue.cli.line_packing import pack


def packed(words: list[str], width: int) -> list[list[str]]:
    return [[piece.plain for piece in line] for line in pack([Text(f"{word} ") for word in words], width, gap=1)]


def test_a_line_takes_as_many_pieces_as_fit() -> None:
    assert packed(["one", "two", "three"], 7) == [["one ", "two "], ["three "]]


def test_the_gap_of_the_last_piece_may_extend_beyond_the_width() -> None:
    assert packed(["one", "two"], 7) == [["one ", "two "]]
    assert packed(["one", "two"], 6) == [["one "], ["two "]]


def test_a_piece_wider_than_the_line_gets_its_own_line() -> None:
    assert packed(["a", "enormous", "b"], 4) == [["a "], ["enormous "], ["b "]]


def test_no_piece_is_no_line() -> None:
    assert packed([], 10) == []
