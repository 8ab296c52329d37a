"""Times that are counted from now: "in half an hour", "an hour and a half from now", "right now"; and what is still to
come today.

Needs the time of day at which somebody speaks. Rule: a moment after midnight is no time of today, so it is left to be
asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .amounts import lengths_at
from .days import Today
from .match import Match
from .tokens import Token, lows

_MINUTES = {"H": 60, "M": 1}
_ABOUT = frozenset("about around roughly approximately like say maybe just".split())
_NOW = (("right", "now"), ("straight", "away"), ("right", "away"), ("now",), ("immediately",))
# Who tells how things are now names no time: "I'm at home now", "it has landed now".
_TELLING = frozenset("i'm im am we're are is it's he's she's they're was were has had i've we've been already".split())
_NOT_NOW = frozenset("just from by until till to for of as".split())
_PER_DAY = 1440


def find_ahead(tokens: Sequence[Token], now: int) -> list[Match]:
    """Every time in a reply that is so much later than now, as HH:MM; `now` is in minutes of the day."""
    found: list[Match] = []
    for place in range(len(tokens)):
        is_free = not found or place >= found[-1].after
        if is_free and (match := _ahead_at(tokens, place, now)) is not None:
            found.append(match)
    return found


def still_ahead(match: Match, today: Today) -> Match:
    """A time of today that may be two, without the one that has passed: "at eight", said in the afternoon."""
    left = tuple(at for at in match.candidates if today.minute is None or str(at) > _clock(today.minute))
    return match._replace(candidates=left) if left else match


def find_now(tokens: Sequence[Token], now: int) -> list[Match]:
    """Now itself: a time only where one is asked for and nothing else is one, as in "right now, please". Neither "just
    now" nor "from now on" is one."""
    if any(token.low in _TELLING for token in tokens) and not _suits(tokens):
        return []
    return [
        Match(place, place + len(words), (_clock(now),))
        for words in _NOW
        for place in range(len(tokens))
        if lows(tokens[place : place + len(words)]) == words and not (place and tokens[place - 1].low in _NOT_NOW)
    ][:1]


def _suits(tokens: Sequence[Token]) -> bool:
    """Does it begin by asking, or by saying when: "is now okay?", "now is fine"?"""
    words = lows(tokens)
    return words[0] in ("is", "are") or any(pair == ("now", "is") for pair in pairwise(words))


def _ahead_at(tokens: Sequence[Token], place: int, now: int) -> Match | None:
    is_in = tokens[place].low == "in"
    begun = place + is_in
    while is_in and begun < len(tokens) and tokens[begun].low in _ABOUT:
        begun += 1
    length = lengths_at(tokens, begun) if begun < len(tokens) else None
    if length is None or not set(length[0]) <= set(_MINUTES):
        return None
    after = length[1]
    if is_in and lows(tokens[after : after + 1]) == ("time",):
        after += 1  # "in an hour's time"
    if not is_in:
        if lows(tokens[after : after + 2]) != ("from", "now"):
            return None
        after += 2
    at = now + sum(_MINUTES[unit] * count for unit, count in length[0].items())
    return Match(place, after, (_clock(at),)) if at < _PER_DAY else None


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
