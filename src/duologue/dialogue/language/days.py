"""Days as `datetime.date`: reads the current day from ISO text, and counts in months.

Rule: no clock is read here. The caller passes in the current day, with the time of day if it is known.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from typing import NamedTuple

_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}))?\Z")


class Today(NamedTuple):
    """The day on which the user gives a reply, and the time in minutes since midnight. The minute is None if the time
    isn't known."""

    day: date
    minute: int | None = None


def today_of(text: str) -> Today:
    """Reads "2026-03-01" or "2026-03-01T17:20". Raises ValueError for anything else."""
    match = _ISO.match(text)
    day = day_of(*map(int, match.groups()[:3])) if match is not None else None
    if match is None or day is None:
        raise ValueError(f"not a date: {text!r} (expected YYYY-MM-DD or YYYY-MM-DDTHH:MM)")
    if match[4] is None:
        return Today(day)
    hour, minute = int(match[4]), int(match[5])
    if hour > 23 or minute > 59:
        raise ValueError(f"not a time of day: {text!r} (expected 00:00 to 23:59)")
    return Today(day, hour * 60 + minute)


def day_of(year: int, month: int, day: int) -> date | None:
    """The date with these numbers; None if there is no such day, as with February 30."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def last_day_of(year: int, month: int) -> date | None:
    """The last day of a month; None outside the years 1 to 9999."""
    return day_of(year, month, monthrange(year, month)[1])


def later_month(year: int, month: int, by: int) -> tuple[int, int]:
    """The year and the month that come `by` months after this one, or before it if `by` is negative."""
    years, month0 = divmod(month - 1 + by, 12)
    return year + years, month0 + 1
