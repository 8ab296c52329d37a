"""Days that move: the last Friday of March, Easter Monday.

Rule: a day of a year, by its number; which year is meant is somebody else's question.
"""

from __future__ import annotations

from collections.abc import Sequence

from .calendar import day_number, later_month, weekday
from .tokens import Token, stem

MOVING = {
    ("good", "friday"): -2,
    ("easter", "sunday"): 0,
    ("easter", "day"): 0,
    ("easter", "monday"): 1,
    ("easter",): 0,
}  # days after Easter Sunday

_BEFORE_FEAST = ("on", "for", "by", "until", "till", "from", "before", "after", "next", "this", "coming")
_HELD = frozenset(map(stem, "party dinner lunch meal brunch supper week time event show menu card present".split()))


def easter(year: int) -> int:
    """Easter Sunday of the Gregorian calendar: the first Sunday after the first full moon of spring."""
    century, cycle = year // 100, year % 19
    moon = (19 * cycle + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    moon -= moon == 29 or (moon == 28 and cycle > 10)
    full = day_number(year, 3, 21) + moon
    return full + 7 - (weekday(full) + 1) % 7


def nth_weekday(year: int, month: int, which: int, wanted: int) -> int | None:
    """The first, second ... weekday of a month, or the last one, which is -1; None if there is no fifth."""
    first = day_number(year, month, 1)
    after = day_number(*later_month(year, month, 1), 1)
    if which < 0:
        return after - 1 - (weekday(after - 1) - wanted) % 7
    day = first + (wanted - weekday(first)) % 7 + 7 * (which - 1)
    return day if day < after else None


def names_another(tokens: Sequence[Token], after: int) -> bool:
    """Does a feast only tell which one of something else is meant, as in "the Christmas party"?"""
    return after < len(tokens) and not tokens[after].pause and stem(tokens[after].low) in _HELD


def is_good_friday(tokens: Sequence[Token], place: int) -> bool | None:
    """ "On Good Friday" is the feast; "good, Friday" is a Friday, and so is "sounds good Friday". At the beginning it
    may be either, which is None."""
    if tokens[place + 1].pause:
        return False
    before = tokens[place - 1].low if place and not tokens[place].pause else ""
    if before in _BEFORE_FEAST or (before and tokens[place].text == "Good"):
        return True
    return False if before else None
