"""Days whose date differs from year to year: the last Friday of March, Easter Monday.

Rule: a function that computes a date gets the year as an argument. Its caller decides which year the user means.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from ..language.days import day_of, last_day_of
from .tokens import Token, stem

DAYS_AFTER_EASTER = {
    ("good", "friday"): -2,
    ("easter", "sunday"): 0,
    ("easter", "day"): 0,
    ("easter", "monday"): 1,
    ("easter",): 0,
}  # in days, counted from Easter Sunday

_BEFORE_HOLIDAY = ("on", "for", "by", "until", "till", "from", "before", "after", "next", "this", "coming")
_EVENTS = frozenset(map(stem, "party dinner lunch meal brunch supper week time event show menu card present".split()))


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar: the first Sunday after the first full moon of spring."""
    century, cycle = year // 100, year % 19
    moon = (19 * cycle + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    moon -= moon == 29 or (moon == 28 and cycle > 10)
    full_moon = date(year, 3, 21) + timedelta(moon)
    return full_moon + timedelta(7 - full_moon.isoweekday() % 7)


def nth_weekday(year: int, month: int, which: int, wanted: int) -> date | None:
    """The date of, for example, the second Friday of a month. `wanted` is the weekday (Monday is 0), and `which` is the
    number (-1 means the last one). None if the month has no such day."""
    if which < 0:
        last = last_day_of(year, month)
        return last - timedelta((last.weekday() - wanted) % 7) if last is not None else None
    first = day_of(year, month, 1)
    return day_of(year, month, 1 + (wanted - first.weekday()) % 7 + 7 * (which - 1)) if first is not None else None


def names_an_event(tokens: Sequence[Token], after: int) -> bool:
    """Is a holiday only part of the name of an event, as in "the Christmas party"?"""
    return after < len(tokens) and not tokens[after].pause and stem(tokens[after].word) in _EVENTS


def is_good_friday(tokens: Sequence[Token], place: int) -> bool | None:
    """Do the words "good Friday" mean the holiday? True in "on Good Friday". False in "good, Friday" and "sounds good
    Friday". None at the beginning of a reply or after a pause, where both meanings are possible."""
    if tokens[place + 1].pause:
        return False
    before = tokens[place - 1].word if place and not tokens[place].pause else ""
    if before in _BEFORE_HOLIDAY or (before and tokens[place].text == "Good"):
        return True
    return False if before else None
