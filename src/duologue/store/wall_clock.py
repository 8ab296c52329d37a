"""The clock of one machine: the time of day at the boot, plus a counter that is never set back.

All processes of one boot count from the same moment, which the store saves, with the system's counter. Rule: setting
the machine's clock neither ends nor extends a lease.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

Clock = Callable[[], int]
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """The id of this boot of the machine; empty if the system has none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def wall_ms() -> int:
    """The time of day in milliseconds."""
    return time.time_ns() // 1_000_000


def counter_ms() -> int:
    """Milliseconds since the boot, including sleep; the same in every process."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return time.monotonic_ns() // 1_000_000


def from_moment(boot_ms: int) -> Clock:
    """A clock that returns the time of day, if the counter started at `boot_ms`."""
    return lambda: boot_ms + counter_ms()
