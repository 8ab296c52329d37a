"""The port for parts of an agent that switch to another service when the current service fails.

Rule: a switch contains names and a reason, never words of the conversation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Switch:
    """A part of the agent ("ears", "voice" or "brain") uses another service from now on. `why` is the reason: the error
    class of a failure; "slow"; or "healthy" if the agent returns to a preferred service."""

    part: str
    source: str
    target: str
    why: str


@runtime_checkable
class ReportsSwitches(Protocol):
    """Ears, a voice or a brain that may switch to another service."""

    def follow_switches(self, notify: Callable[[Switch], None]) -> Callable[[], None]:
        """Call `notify` after each switch. Returns a function that unsubscribes."""
        ...
