"""Limits the messages of a client: how many it may send per second, and how many invalid ones in total.

Rule: this class only counts; the code that uses it disconnects the client.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.fairness.bucket import Rate, full, take

from .limited_caller import now_ms
from .settings import Limits

BURST_S = 3  # a client may send the messages of this many seconds at once


class MessageLimits:
    """The limits of one client's connection. `note_refused` is called with the name of the limit that refuses."""

    def __init__(self, limits: Limits, note_refused: Callable[[str], None]) -> None:
        per_s_max = limits.messages_per_s_max
        self._rate = Rate(per_s_max, 1_000, per_s_max * BURST_S)
        self._messages = full(self._rate, now_ms())
        self._bad_max = limits.bad_messages_max
        self._bad = 0
        self._note_refused = note_refused

    def is_too_fast(self) -> bool:
        """Count one message. Returns whether the client sends messages too fast."""
        self._messages, wait_ms = take(self._rate, self._messages, 1, now_ms())
        if wait_ms != 0:
            self._note_refused("messages")
        return wait_ms != 0

    def is_too_bad(self) -> bool:
        """Count one invalid message. Returns whether the client has now sent too many invalid messages."""
        self._bad += 1
        return self._bad >= self._bad_max
