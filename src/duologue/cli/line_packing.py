"""Packs pieces of text into lines that fit, without breaking a piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.text import Text


def pack(pieces: Iterable[Text], width: int, gap: int) -> Iterator[list[Text]]:
    """Distribute the pieces over lines that are at most `width` wide, and yield the pieces of each line. Every piece
    must end in `gap` blanks; the blanks of the last piece in a line may extend beyond the width."""
    line: list[Text] = []
    used = 0
    for piece in pieces:
        if line and used + len(piece) - gap > width:
            yield line
            line, used = [], 0
        line.append(piece)
        used += len(piece)
    if line:
        yield line
