"""The clock of one machine: the time of day at the boot, plus the system's counter, which is never set back.

The store saves the time of the boot, so that all processes count from the same moment. Rule: setting the machine's
clock neither ends nor extends a lease.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

Clock = Callable[[], int]
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """The id of this boot of the machine. Empty if the system has no such id."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def wall_ms() -> int:
    """The wall-clock time, in milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


def counter_ms() -> int:
    """Milliseconds since the boot, the same in every process. The time that the machine slept is included where the
    system can count it."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return time.monotonic_ns() // 1_000_000


def from_moment(boot_ms: int) -> Clock:
    """A clock that returns the time of day, given that the counter started at the time of day `boot_ms`."""
    return lambda: boot_ms + counter_ms()
