"""The keys of a telephone, gathered into what was typed.

A number is over at the terminator or after a pause. Rule: what was typed is told once, and never empty.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

DIGITS_MAX = 64  # then it is over, whatever comes


class Digits:
    """The keys of one call."""

    def __init__(self, typed: Callable[[str], None], terminator: str = "#", pause_ms: int = 1_500) -> None:
        self._typed = typed
        self._terminator = terminator
        self._pause_ms = pause_ms
        self._so_far = ""
        self._alarm: asyncio.TimerHandle | None = None

    def press(self, digit: str) -> None:
        """One key."""
        self._quiet()
        if digit == self._terminator:
            self._tell()
            return
        self._so_far += digit
        if len(self._so_far) >= DIGITS_MAX:
            self._tell()
        else:
            self._alarm = asyncio.get_running_loop().call_later(self._pause_ms / 1000, self._tell)

    def stop(self) -> None:
        """The call is over: what is unfinished is forgotten."""
        self._quiet()
        self._so_far = ""

    def _tell(self) -> None:
        self._quiet()
        typed, self._so_far = self._so_far, ""
        if typed:
            self._typed(typed)

    def _quiet(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
