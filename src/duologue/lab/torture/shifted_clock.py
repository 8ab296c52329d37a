"""A wall clock that can be set wrong, for one process.

The machine's clock can't be set for a test, so this process reads another one: a file says how many seconds it is off,
and SIGUSR1 says that the file has changed. The monotonic clock is left alone, as setting the time leaves it alone.
Rule: installed before anything else is imported, or somebody keeps the real one.
"""

from __future__ import annotations

import datetime
import signal
import time
from pathlib import Path

_real_time = time.time
_real_time_ns = time.time_ns
_real_datetime = datetime.datetime
_real_date = datetime.date
_off_s = 0


class _Datetime(_real_datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _Datetime:
        return cls.fromtimestamp(time.time(), tz)


class _Date(_real_date):
    @classmethod
    def today(cls) -> _Date:
        return cls.fromtimestamp(time.time())


def install(file: Path) -> None:
    """From here on the time of day is what this file says."""

    def read(*_: object) -> None:
        global _off_s
        text = file.read_text(encoding="ascii") if file.exists() else ""
        _off_s = int(text or 0)

    read()
    signal.signal(signal.SIGUSR1, read)
    time.time = lambda: _real_time() + _off_s
    time.time_ns = lambda: _real_time_ns() + _off_s * 1_000_000_000
    datetime.datetime = _Datetime  # type: ignore[misc]
    datetime.date = _Date  # type: ignore[misc]
