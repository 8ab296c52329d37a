"""Times counted from now: "in half an hour", "an hour and a half from now", "right now".

This module also removes times that have already passed today. Both tasks need the time at which the user replied;
without it, nothing is read or removed. Rule: a time counted from now that falls after midnight belongs to tomorrow, so
it isn't read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..language.days import Today
from ..language.match import Match
from .amounts import duration_at
from .tokens import Token, words_of

_MINUTES = {"H": 60, "M": 1}
_ABOUT = frozenset("about around roughly approximately like say maybe just".split())
_NOW = (("right", "now"), ("straight", "away"), ("right", "away"), ("now",), ("immediately",))
# With one of these, "now" describes the present and isn't a time: "I'm at home now", "it has landed now".
_TELLING = frozenset("i'm im am we're are is it's he's she's they're was were has had i've we've been already".split())
_NOT_NOW = frozenset("just from by until till to for of as".split())
_PER_DAY = 1440


def find_times_ahead(tokens: Sequence[Token], now: int) -> list[Match]:
    """Every time in a reply that is counted from now, as HH:MM. `now` is the current time in minutes since midnight."""
    found: list[Match] = []
    for place in range(len(tokens)):
        is_free = not found or place >= found[-1].after
        if is_free and (match := _time_ahead_at(tokens, place, now)) is not None:
            found.append(match)
    return found


def without_past_times(match: Match, today: Today) -> Match:
    """The match without the candidates that have already passed today: "at eight", said in the afternoon, means the
    evening. If all candidates have passed, all are kept."""
    left = tuple(at for at in match.candidates if today.minute is None or str(at) > _clock(today.minute))
    return match._replace(candidates=left) if left else match


def find_now(tokens: Sequence[Token], now: int) -> list[Match]:
    """The current time, if the reply says "now", as in "right now, please". Otherwise empty. Use it only if the agent
    asked for a time and the reply contains no other time. "Just now" and "from now on" don't mean the current time."""
    if any(token.word in _TELLING for token in tokens) and not _suits(tokens):
        return []
    return [
        Match(place, place + len(words), (_clock(now),))
        for words in _NOW
        for place in range(len(tokens))
        if words_of(tokens[place : place + len(words)]) == words and not (place and tokens[place - 1].word in _NOT_NOW)
    ][:1]


def _suits(tokens: Sequence[Token]) -> bool:
    """Does the reply say or ask whether now is a good time? True for "is now okay?" and "now is fine"."""
    words = words_of(tokens)
    return words[0] in ("is", "are") or any(pair == ("now", "is") for pair in pairwise(words))


def _time_ahead_at(tokens: Sequence[Token], place: int, now: int) -> Match | None:
    is_in = tokens[place].word == "in"
    begun = place + is_in
    while is_in and begun < len(tokens) and tokens[begun].word in _ABOUT:
        begun += 1
    length = duration_at(tokens, begun) if begun < len(tokens) else None
    if length is None or not set(length[0]) <= set(_MINUTES):
        return None
    after = length[1]
    if is_in and words_of(tokens[after : after + 1]) == ("time",):
        after += 1  # "in an hour's time"
    if not is_in:
        if words_of(tokens[after : after + 2]) != ("from", "now"):
            return None
        after += 2
    at = now + sum(_MINUTES[unit] * count for unit, count in length[0].items())
    return Match(place, after, (_clock(at),)) if at < _PER_DAY else None


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
