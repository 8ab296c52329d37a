"""Days as whole numbers: counting, weekdays and ISO text, with no clock.

A day is its number since 0000-03-01 in the Gregorian calendar without a beginning. Rule: today always comes in, and the
time of it if anybody knows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

YEAR_MAX = 9999
DATE_CHARS = len("2026-03-01")
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}))?\Z")


class Day(int):
    """The number of a day. `minute` is that of the day, where the time was told with it."""

    minute: int | None = None


class Civil(NamedTuple):
    """A day as people write it."""

    year: int
    month: int
    day: int


def day_number(year: int, month: int, day: int) -> int:
    """The number of a day."""
    year -= month <= 2
    era, in_era = divmod(year, 400)
    in_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + in_era * 365 + in_era // 4 - in_era // 100 + in_year


def civil(number: int) -> Civil:
    """The day with this number."""
    era, in_era = divmod(number, 146097)
    of_era = (in_era - in_era // 1460 + in_era // 36524 - in_era // 146096) // 365
    in_year = in_era - (365 * of_era + of_era // 4 - of_era // 100)
    month = (5 * in_year + 2) // 153
    day = in_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return Civil(of_era + era * 400 + (month <= 2), month, day)


def weekday(number: int) -> int:
    """0 is Monday."""
    return (number + 2) % 7


def month_days(year: int, month: int) -> int:
    """How many days a month has."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def is_day(year: int, month: int, day: int) -> bool:
    """Is there such a day?"""
    return 1 <= year <= YEAR_MAX and 1 <= month <= 12 and 1 <= day <= month_days(year, month)


def later_month(year: int, month: int, by: int) -> tuple[int, int]:
    """The month so many months later."""
    years, month0 = divmod(month - 1 + by, 12)
    return year + years, month0 + 1


def iso(number: int) -> str:
    """As in 2026-03-01."""
    year, month, day = civil(number)
    return f"{year:04d}-{month:02d}-{day:02d}"


def day_of(text: str) -> Day:
    """The number of an ISO day, with a time or without; ValueError if it is none."""
    match = _ISO.match(text)
    if match is None or not is_day(*map(int, match.groups()[:3])):
        raise ValueError(f"not a day: {text!r}")
    day = Day(day_number(*map(int, match.groups()[:3])))
    if match[4] is not None:
        hour, minute = int(match[4]), int(match[5])
        if hour > 23 or minute > 59:
            raise ValueError(f"not a time: {text!r}")
        day.minute = hour * 60 + minute
    return day
