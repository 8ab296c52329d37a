"""A yes or no that names its slot, although nothing was asked: "no breakfast", "with parking".

Rule: every word of the slot's name has to be said, right after a word such as "with" or "no".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..language.match import Match
from .tokens import Token, stem

_REFUSING = frozenset("no without".split())
_WANTING = frozenset("with including plus".split())
_ARTICLES = frozenset("a an the any some".split())
_ABOUT = frozenset(
    "is are has have had was does do can with want wants wanted need needs needed include includes included".split()
)


def find_wanted(tokens: Sequence[Token], slot: str) -> list[Match]:
    """Every mention of the thing that the slot is named after, with True if the user wants it ("with parking"), and
    False if the user refuses it ("no parking")."""
    name = _named_by(slot)
    if not name:
        return []
    found = []
    for place, token in enumerate(tokens):
        if token.word not in _REFUSING | _WANTING:
            continue
        first = place + 1 + (place + 1 < len(tokens) and tokens[place + 1].word in _ARTICLES)
        run = tokens[first : first + len(name)]
        if tuple(stem(one.word) for one in run) == name and not any(one.pause for one in run):
            found.append(Match(place, first + len(name), (token.word in _WANTING,)))
    return found


@lru_cache(maxsize=512)
def _named_by(slot: str) -> tuple[str, ...]:
    """The stems of the words in a slot's name that say what the slot is about. Words such as "has" are left out."""
    return tuple(stem(word) for word in slot.casefold().split("_") if word and word not in _ABOUT)
