"""Collects the keys that a caller presses into one text.

The `KeyRule` in use says when a text is complete: at the terminator key, at a certain length or after a pause. Rule:
each text is passed on once, and an empty text is never passed on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from duologue.ports.call_actions import KeyRule

DIGITS_MAX = 64  # a longer text is passed on in parts


class Digits:
    """Collects the keys of one call. `typed` is called with each complete text."""

    def __init__(self, typed: Callable[[str], None], terminator: str = "#", pause_ms: int = 1_500) -> None:
        self._typed = typed
        self._usual = KeyRule(0, terminator, pause_ms)
        self._rule = self._usual
        self._so_far = ""
        self._alarm: asyncio.TimerHandle | None = None

    def use(self, rule: KeyRule | None) -> None:
        """Use this rule from now on to decide when a text is complete. None restores the initial rule."""
        self._rule = rule or self._usual

    def press(self, digit: str) -> None:
        """Add a key that the caller has pressed. The terminator key completes the text."""
        self._cancel_timer()
        rule = self._rule
        if digit == rule.terminator:
            self._complete()
            return
        self._so_far += digit
        if len(self._so_far) >= (rule.length or DIGITS_MAX):
            self._complete()
        else:
            self._alarm = asyncio.get_running_loop().call_later(rule.pause_ms / 1000, self._complete)

    def _complete(self) -> None:
        self._cancel_timer()
        typed, self._so_far = self._so_far, ""
        if typed:
            self._typed(typed)

    def _cancel_timer(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
