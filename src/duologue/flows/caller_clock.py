"""What time it is for the people who call: their day, and their time of day.

Rule: a dialogue never looks at a clock; whoever talks to it brings the time along.
"""

from __future__ import annotations

import datetime
import time
import zoneinfo
from collections.abc import Callable


def now_ms() -> int:
    """Milliseconds, for how long something took or lies behind."""
    return time.time_ns() // 1_000_000


def today_in(zone: str = "") -> Callable[[], str]:
    """The day and the time in a zone such as Europe/Vienna, as in 2026-03-04T17:20; without one, where this runs."""
    place = zoneinfo.ZoneInfo(zone) if zone else None
    return lambda: datetime.datetime.now(place).replace(tzinfo=None).isoformat(timespec="minutes")


def is_zone(name: str) -> bool:
    """Does this machine know the zone?"""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def zones() -> list[str]:
    """All that this machine knows."""
    return sorted(zoneinfo.available_timezones())
