"""A clock that all processes of one machine share. It adds two times: the time of day at which the machine booted, and
the time since then, from a counter of the system that never goes back.

The store saves the time of the boot, so that all processes count from the same moment. Rule: if the machine's clock is
set to another time, no lease ends earlier or later.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

Clock = Callable[[], int]
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """An id that is different after each boot of the machine. Empty if the system has no such id."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def wall_ms() -> int:
    """The wall-clock time, in milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


def counter_ms() -> int:
    """Milliseconds since the machine booted; the same in every process. If the system can count it, the time during
    which the machine slept is included."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return time.monotonic_ns() // 1_000_000


def from_moment(boot_ms: int) -> Clock:
    """Make a clock that returns the time of day. `boot_ms` is the time of day at which `counter_ms` was 0."""
    return lambda: boot_ms + counter_ms()
