"""Makes the wall clock of one process show a wrong time.

Replaces `time.time` and the classes of `datetime`. A file contains the shift in seconds, and the process reads the file
again when it gets SIGUSR1. The monotonic clock is unchanged, as when the time of a computer is set. Rule: call
`install` before other modules are imported, because `from datetime import datetime` would bind the real class.
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
    """Shift the wall clock by the seconds in this file, and reload the file at SIGUSR1. A missing file means 0."""

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
