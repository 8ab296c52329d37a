"""The port for actions that only a telephone call supports: transfer, hold, record, and send keys.

Rule: an action that the call or the carrier refuses raises NotPossible, and the call goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeyRule:
    """A rule that says when the keys that a person presses are complete. A `length` of 0 means any length."""

    length: int = 0  # complete at this many keys
    terminator: str = "#"  # the key that completes them at once; empty if there is no such key
    pause_ms: int = 1_500  # complete after a pause of this length


class CallActions(Protocol):
    """The actions that only a telephone line can perform. The context of a call uses them."""

    async def transfer(self, to: str, *, briefing: str, ring_s: float | None) -> None:
        """Pass the call on to another number. With a `briefing`, the person at that number hears it first and must
        accept. Raises TransferFailed if the call stays with the agent."""
        ...

    async def send_digits(self, digits: str) -> None:
        """Send these keys as tones. Returns when they were sent."""
        ...

    async def hold(self, on: bool) -> None:
        """Put the person on hold with music, or end the hold."""
        ...

    async def record(self, on: bool) -> None:
        """Let the carrier record the call from now on, or stop the recording."""
        ...

    def expect_keys(self, rule: KeyRule | None) -> None:
        """Collect keys by this rule from now on. If `rule` is None, the rule in the settings applies."""
        ...
