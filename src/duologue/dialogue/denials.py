"""Clauses that only deny, without saying what: "I can't", "that doesn't work".

Rule: such a clause may be about the day or time in the clause before it, so this day or time isn't taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from .language.pack import LanguagePack
from .language.tokens import Token

_SUITING = ("work", "works", "suit", "suits", "good", "possible", "manage", "make", "do")


def only_denies(pack: LanguagePack, tokens: Sequence[Token]) -> bool:
    """Does this clause deny something that it doesn't name? True for "I can't" and "it doesn't work". False for "I
    don't mind", and for "I can't on Thursday", which names what it denies."""
    words = pack.words
    if not any(words.is_negation(token.word) for token in tokens):
        return False
    said = [token.word for token in tokens if token.word not in words.common and not words.is_negation(token.word)]
    suiting = {words.stem(word) for word in _SUITING}
    is_plain = all(words.stem(word) in suiting for word in said)
    return is_plain and not pack.signs.has_no_preference(tokens, frozenset())
