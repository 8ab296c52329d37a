"""Recognises words that tell of the past: "it was stolen yesterday", "I noticed it on Friday".

Rule: only the clause around a value is examined, because the rest of the message may be about something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..language.match import Match
from .carrier_words import without_contraction
from .tokens import Token

CLAUSE_OPENERS = frozenset("but because however though although unless except".split())  # words that begin a clause
PAST = frozenset(
    """was were had did went came sent paid took made told said bought booked ordered arrived called visited stayed
    yesterday ago lost broke fell felt saw began stopped happened stolen broken wasn't weren't didn't""".split()
)
_NOT_PAST = frozenset("need speed feed seed indeed bed red wed used supposed required interested married".split())
_CHARS_MIN = 5  # shorter words aren't read as a regular past form: "used" is also in "used to"


def tells_of_past(tokens: Sequence[Token], match: Match) -> bool:
    """Does the clause around a match tell of the past?"""
    return any(
        is_past_form(token.word) for token in (*clause_around(tokens, match), *tokens[match.first : match.after])
    )


def is_past_form(word: str) -> bool:
    """Is this word a past form, such as "was" or "noticed"?"""
    head = without_contraction(word)
    return head in PAST or (head.endswith("ed") and len(head) >= _CHARS_MIN and head not in _NOT_PAST)


def clause_around(tokens: Sequence[Token], match: Match) -> Iterator[Token]:
    """The words of the clause around a match, without the match itself."""
    first, after = match.first, match.after
    while first > 0 and not begins_clause(tokens[first]):
        first -= 1
    while after < len(tokens) and not begins_clause(tokens[after]):
        after += 1
    yield from tokens[first : match.first]
    yield from tokens[match.after : after]


def begins_clause(token: Token) -> bool:
    """Does a clause begin with this word?"""
    return bool(token.pause) or token.word in CLAUSE_OPENERS
