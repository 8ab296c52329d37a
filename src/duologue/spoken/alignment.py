"""A sentence in its written and its spoken form, with the positions in the two texts that correspond to each other.

Rule: a written word has been said when all the spoken words for it have been said. The order is the same in both texts:
a later position in the spoken text never corresponds to an earlier position in the written text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any, NamedTuple

_RUN = re.compile(r"\s+|\S+")
_TIGHT = ",.;:!?)"  # no space before these


class AlignedPiece(NamedTuple):
    """A stretch of the spoken text, and the stretch of the written text that is said with these words."""

    spoken_start: int
    spoken_end: int
    written_start: int
    written_end: int


class SpokenTag(NamedTuple):
    """How a stretch of the spoken text is said, such as ("speed", "0.8", 0, 12). At a break, `start` equals `end`."""

    kind: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SpokenForm:
    """A written sentence and its spoken form. If there are no pieces, the two texts are the same. `tags` are for voices
    that take markup; they aren't saved."""

    written: str
    text: str
    pieces: tuple[AlignedPiece, ...] = ()
    tags: tuple[SpokenTag, ...] = ()

    @property
    def is_silent(self) -> bool:
        """True if the spoken form has no letter or digit, so that there is nothing to speak."""
        return not any(map(str.isalnum, self.text))

    def written_place(self, place: int) -> int:
        """The position up to which the written text has been said, when the spoken text has been said up to position
        `place`."""
        if not self.pieces:
            return min(place, len(self.written))
        if place >= len(self.text):
            return len(self.written)
        after = bisect_right(self.pieces, place, key=_spoken_end)
        before = self.pieces[after - 1].written_end if after else 0
        if after == len(self.pieces):  # inside the final mark, which only the spoken text has
            return before
        piece = self.pieces[after]
        if place <= piece.spoken_start or not self._is_same(piece):
            return before
        return piece.written_start + place - piece.spoken_start

    def spoken_start(self, place: int) -> int:
        """The position in the spoken text at which the written text from `place` on begins."""
        if not self.pieces:
            return min(place, len(self.text))
        at = bisect_right(self.pieces, place, key=_written_end)
        if at == len(self.pieces):
            return len(self.text)
        piece = self.pieces[at]
        inside = place - piece.written_start if place > piece.written_start and self._is_same(piece) else 0
        return piece.spoken_start + inside

    def spoken_end(self, place: int) -> int:
        """The position in the spoken text at which the written text up to `place` ends."""
        if not self.pieces:
            return min(place, len(self.text))
        at = bisect_left(self.pieces, place, key=_written_start)
        if not at:
            return 0
        piece = self.pieces[at - 1]
        if place < piece.written_end and self._is_same(piece):
            return piece.spoken_start + place - piece.written_start
        return piece.spoken_end

    def _is_same(self, piece: AlignedPiece) -> bool:
        length = piece.spoken_end - piece.spoken_start
        written = self.written[piece.written_start : piece.written_start + length]
        return self.text[piece.spoken_start : piece.spoken_end] == written

    def dump(self) -> list[Any]:
        """The spoken text and its pieces as JSON values, without the written text."""
        return [self.text, [list(piece) for piece in self.pieces]]

    @classmethod
    def load(cls, written: str, data: Any) -> SpokenForm:
        """Make a spoken form from what `dump` returned. Raises ValueError or TypeError for invalid data."""
        text, rows = data
        if type(text) is not str:
            raise ValueError("the spoken form is invalid: its text isn't a string")
        pieces = tuple(AlignedPiece(*map(_place, row)) for row in rows)
        ends = [number for piece in pieces for number in piece[:2]]
        written_ends = [number for piece in pieces for number in piece[2:]]
        if ends != sorted(ends) or written_ends != sorted(written_ends):
            raise ValueError("the spoken form is invalid: its pieces aren't in order")
        if pieces and (ends[-1] > len(text) or written_ends[-1] > len(written)):
            raise ValueError("the spoken form is invalid: a piece ends after the end of the text")
        return cls(written, text, pieces)


def _spoken_end(piece: AlignedPiece) -> int:
    return piece.spoken_end


def _written_start(piece: AlignedPiece) -> int:
    return piece.written_start


def _written_end(piece: AlignedPiece) -> int:
    return piece.written_end


def _place(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("the spoken form is invalid: a position is negative or isn't a whole number")
    return value


class SpokenText:
    """Builds a spoken form from left to right."""

    def __init__(self, written: str) -> None:
        self._written = written
        self._parts: list[str] = []
        self._length = 0
        self._pieces: list[AlignedPiece] = []
        self._has_space = False  # a space comes before the next part
        self._is_apart = True  # a space in the written text comes before the next part

    def keep(self, start: int, end: int) -> None:
        """Say this stretch of the written text as it is written, but with single spaces."""
        for run in _RUN.finditer(self._written, start, end):
            if run.group().isspace():
                self._has_space = self._is_apart = True
            else:
                self._add(run.group(), run.start(), run.end())

    def say(self, text: str, start: int, end: int) -> None:
        """Say `text` instead of this stretch of the written text. An empty text leaves the stretch out."""
        bare = text.strip()
        self._has_space = self._has_space or text[:1].isspace()
        if bare:
            self._add(bare, start, end)
        elif self._pieces and not self._is_apart:  # what is left out after a word is said together with the word
            self._pieces[-1] = self._pieces[-1]._replace(written_end=end)
        self._has_space = self._has_space or text[-1:].isspace()
        self._is_apart = text[-1:].isspace() and not bare

    def end_with(self, mark: str) -> None:
        """Add a mark at the end of the spoken text. The written text doesn't contain this mark."""
        if self._parts:
            self._parts.append(mark)
            self._length += len(mark)

    @property
    def last(self) -> str:
        """The last character of the spoken text; empty if there is no text yet."""
        return self._parts[-1][-1] if self._parts else ""

    def done(self) -> SpokenForm:
        return SpokenForm(self._written, "".join(self._parts), tuple(self._pieces))

    def _add(self, text: str, start: int, end: int) -> None:
        if self._has_space and self._parts and text[0] not in _TIGHT:
            self._parts.append(" ")
            self._length += 1
        self._pieces.append(AlignedPiece(self._length, self._length + len(text), start, end))
        self._parts.append(text)
        self._length += len(text)
        self._has_space = self._is_apart = False
