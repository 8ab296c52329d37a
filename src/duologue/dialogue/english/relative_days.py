"""Days counted from an earlier day: "the day after", "two nights later", "the following Friday".

The earlier day is one that the user has already given, for example the arrival date. Rule: without such a day, these
phrases aren't dates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from .numbers import number_at
from .tokens import Token

_DAYS_OF = {"day": 1, "days": 1, "night": 1, "nights": 1, "week": 7, "weeks": 7}
_DIRECTIONS = {"after": 1, "later": 1, "afterwards": 1, "before": -1, "earlier": -1}
_THAT = ("that", "it", "this", "then")
_AFTER_ALL = ("please", "thanks", "thank", "instead", "would", "is", "will", "works", "then", "if")


class Since(NamedTuple):
    """The day that other days are counted from."""

    day: date
    stays: bool  # a stay begins on this day, so "three nights" gives the date of its end
    is_start: bool = False  # the date that is asked for can't be before this day


Found = tuple[tuple[date, ...], int]


def day_since(tokens: Sequence[Token], place: int, since: Since, weekdays: Mapping[str, int]) -> Found | None:
    """The day that the words from the token `place` on mean, counted from `since`, and the index of the token after
    these words. None if the words aren't such a phrase."""
    words = [token.word for token in tokens] + [""] * 4
    at = place + (words[place] == "the")
    if words[at] in ("next", "following") and words[at + 1] == "day" and (at > place or words[at] == "following"):
        return (since.day + timedelta(1),), at + 2
    if words[at : at + 2] == ["same", "day"] and words[at + 2] != "as":
        return (since.day,), at + 2
    if words[at] == "following" and words[at + 1] in weekdays:
        return (_next(since.day, weekdays[words[at + 1]]),), at + 2
    if words[at] in weekdays and words[at + 1] == "after" and (after := _ends(words, at + 2)):
        return (_next(since.day, weekdays[words[at]]),), after
    return _counted(tokens, words, at, since)


def _counted(tokens: Sequence[Token], words: Sequence[str], at: int, since: Since) -> Found | None:
    """Reads "the day after", "a week later", "three nights"."""
    found = (1, at + (words[at] in ("a", "one"))) if words[at] in ("day", "a", "one") else number_at(tokens, at)
    if found is None:
        return None
    count, at = found
    if not isinstance(count, int) or not 0 < count <= 366:
        return None
    length = _DAYS_OF.get(words[at])
    if length is None:
        return None
    direction = _DIRECTIONS.get(words[at + 1])
    if direction is None:
        is_stay = since.stays and words[at].startswith("night") and _ends(words, at + 1)
        return ((since.day + timedelta(count),), at + 1) if is_stay else None
    after = _ends(words, at + 2)
    return ((since.day + timedelta(direction * count * length),), after) if after else None


def _ends(words: Sequence[str], at: int) -> int:
    """The index of the token after a phrase like "two days after" or "two days after that". 0 if the day may be counted
    from something else, as in "two days after the wedding"."""
    after = at + (words[at] in _THAT)
    return after if after > at or not words[after] or words[after] in _AFTER_ALL else 0


def _next(since: date, weekday: int) -> date:
    return since + timedelta((weekday - since.weekday()) % 7 or 7)
