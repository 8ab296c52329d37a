"""The clock of one machine: the time of day, that is never set back under a lease.

All processes of one boot count from the same moment, by the system's own counter; the store keeps that moment.
Rule: whoever sets the machine's clock neither ends a lease nor prolongs one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

Clock = Callable[[], int]
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """Which boot of this machine it is, or nothing where the system doesn't tell."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def counter_ms() -> int:
    """Since the boot, while asleep too; the same in every process."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return time.monotonic_ns() // 1_000_000


def from_moment(boot_ms: int) -> Clock:
    """The time of day, if the counter began at `boot_ms`."""
    return lambda: boot_ms + counter_ms()
