"""Days that are counted from another one: "the day after", "two nights later", "the following Friday".

The other day is one that was given before, such as an arrival. Rule: without one, none of this is a date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .calendar import weekday
from .numbers import number_at
from .tokens import Token

_LENGTHS = {"day": 1, "days": 1, "night": 1, "nights": 1, "week": 7, "weeks": 7}
_WAYS = {"after": 1, "later": 1, "afterwards": 1, "before": -1, "earlier": -1}
_THAT = ("that", "it", "this", "then")
_AFTER_ALL = ("please", "thanks", "thank", "instead", "would", "is", "will", "works", "then", "if")


class Since(NamedTuple):
    """The other day."""

    day: int
    stays: bool  # three nights begin with it
    is_start: bool = False  # whatever is asked for now comes later


Found = tuple[tuple[int, ...], int]


def day_since(tokens: Sequence[Token], place: int, since: Since, weekdays: Mapping[str, int]) -> Found | None:
    """The day that is told here from the other one, and the place after."""
    words = [token.low for token in tokens] + [""] * 4
    at = place + (words[place] == "the")
    if words[at] in ("next", "following") and words[at + 1] == "day" and (at > place or words[at] == "following"):
        return (since.day + 1,), at + 2
    if words[at : at + 2] == ["same", "day"] and words[at + 2] != "as":
        return (since.day,), at + 2
    if words[at] == "following" and words[at + 1] in weekdays:
        return (_next(since.day, weekdays[words[at + 1]]),), at + 2
    if words[at] in weekdays and words[at + 1] == "after" and (after := _ends(words, at + 2)):
        return (_next(since.day, weekdays[words[at]]),), after
    return _counted(tokens, words, at, since)


def _counted(tokens: Sequence[Token], words: Sequence[str], at: int, since: Since) -> Found | None:
    """The day after, a week later, three nights."""
    found = (1, at + (words[at] in ("a", "one"))) if words[at] in ("day", "a", "one") else number_at(tokens, at)
    if found is None:
        return None
    count, at = found
    if not isinstance(count, int) or not 0 < count <= 366:
        return None
    length = _LENGTHS.get(words[at])
    if length is None:
        return None
    way = _WAYS.get(words[at + 1])
    if way is None:
        is_stay = since.stays and words[at].startswith("night") and _ends(words, at + 1)
        return ((since.day + count,), at + 1) if is_stay else None
    after = _ends(words, at + 2)
    return ((since.day + way * count * length,), after) if after else None


def _ends(words: Sequence[str], at: int) -> int:
    """The place after "that", if nothing follows that the day may be counted from instead; else 0."""
    after = at + (words[at] in _THAT)
    return after if after > at or not words[after] or words[after] in _AFTER_ALL else 0


def _next(since: int, wanted: int) -> int:
    return since + ((wanted - weekday(since)) % 7 or 7)
