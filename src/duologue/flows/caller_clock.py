"""The caller's clock: the date and time at the place where the caller is.

Rule: a dialogue never reads a clock; the code that runs it passes the time in.
"""

from __future__ import annotations

import datetime
import time
import zoneinfo
from collections.abc import Callable


def now_ms() -> int:
    """The current Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def today_in(zone: str = "") -> Callable[[], str]:
    """A function that returns the current date and time in a zone such as Europe/Vienna, in the form 2026-03-04T17:20.
    Without a zone, it returns the local time."""
    place = zoneinfo.ZoneInfo(zone) if zone else None
    return lambda: datetime.datetime.now(place).replace(tzinfo=None).isoformat(timespec="minutes")


def is_zone(name: str) -> bool:
    """Does this computer know the time zone?"""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def zones() -> list[str]:
    """All time zones that this computer knows."""
    return sorted(zoneinfo.available_timezones())
