"""Converts a time on a conversation's own clock to the time of day.

The conversation's clock counts milliseconds from its start, so that a journal replays exactly. It stands still while no
process runs the conversation. Rule: the time of day is only shown, and no decision depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

TOLERANCE = timedelta(milliseconds=50)  # a smaller difference of the two clocks is jitter


def utc_now() -> datetime:
    return datetime.now(UTC)


class WallTime:
    """Compares one conversation's clock with the time of day. `now` returns the milliseconds on the conversation's
    clock. The clocks are compared again at each use, because each may jump: the conversation's clock when the
    conversation is restored, and the computer's clock when it is set."""

    def __init__(self, now: Callable[[], int], utc: Callable[[], datetime] | None = None) -> None:
        self._now = now
        self._utc = utc or utc_now
        self._zero: datetime | None = None  # the time of day at which the conversation's clock was 0

    def of(self, at_ms: int) -> datetime:
        """The time of day, in UTC, at which the conversation's clock was or will be `at_ms`."""
        zero = self._utc() - timedelta(milliseconds=self._now())
        if self._zero is None or abs(zero - self._zero) > TOLERANCE:
            self._zero = zero
        return self._zero + timedelta(milliseconds=at_ms)
