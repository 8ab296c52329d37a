"""One word of a message, in the form that all grammars use.

Each language splits a message in its own way. Rule: a token knows its position in the message, so the position of every
value is known too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

_JOINTS = (".", "-", "_")


class Token(NamedTuple):
    """One word, number or sign."""

    text: str
    word: str  # in the form in which words are compared: in lower case, with plain apostrophes and no full stops
    start: int
    end: int
    pause: str  # the strongest mark between the token before and this one: "", ",", "." or "?"
    joint: str = ""  # the ".", "-" or "_" that alone stands between the token before and this one, as in "ann.lee"


def joint_in(gap: str) -> str:
    """The sign that joins two tokens, if the text between them is only this sign; empty otherwise."""
    return gap if gap in _JOINTS else ""


def span_of(tokens: Sequence[Token], first: int, after: int) -> tuple[int, int]:
    """The start and the end, in characters of the reply, of the tokens from index `first` up to but not including
    `after`."""
    return tokens[first].start, tokens[after - 1].end


def words_of(tokens: Iterable[Token]) -> tuple[str, ...]:
    """The words of these tokens, in the form in which words are compared."""
    return tuple(token.word for token in tokens)
