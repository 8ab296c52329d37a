"""Reads ordinals as numbers: after "which floor do you live on?", "third floor" is 3 and "the ground floor" is 0.

Rule: an ordinal is read as a number only if a noun from the question follows it. So "the third of May" and "the second
one" aren't numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.match import Match
from .carrier_words import TIMES
from .numbers import ordinal_at
from .tokens import Token, stem

_ZERO = frozenset(("ground",))  # the floor that is counted as zero
_NOT_COUNTED = TIMES | frozenset(map(stem, ("one", "choice", "option", "name")))


def find_ordinal_number(tokens: Sequence[Token], echo: frozenset[str]) -> Match | None:
    """The number in "third floor" or "ground floor"; None if the noun after it isn't one of `echo`, the words of the
    question without their endings."""
    for place in range(len(tokens) - 1):
        found = (0, place + 1) if tokens[place].word in _ZERO else ordinal_at(tokens, place)
        if found is None or found[1] >= len(tokens) or tokens[found[1]].pause:
            continue
        noun = stem(tokens[found[1]].word)
        if noun in echo and noun not in _NOT_COUNTED:
            return Match(place, found[1] + 1, (found[0],))
    return None
