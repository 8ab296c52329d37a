"""The session port: the connection that a conversation needs, and the context that the next session gets.

Rule: `open` and `renew` raise if they fail. A `ServiceError` names the error class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from .history import Item
from .line import Closed, Healed, Wobbled


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What one session passes on to the next."""

    summary: str = ""
    recent: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()  # active files and other facts that the program adds


@dataclass(frozen=True, slots=True)
class SessionLife:
    """A report of a session that exists before its conversation: whether it is active, and when it expires."""

    active: bool = True
    left_ms: int | None = None  # until it expires; None if it doesn't expire, or if that isn't known


@runtime_checkable
class ReportsLife(Protocol):
    """A session that can be inactive or expire before a conversation starts on it, such as one with a key that is valid
    for some minutes. A start is refused while the session isn't active, and when it would expire within
    `session_ms_max` minus `session_warning_ms` (both are settings)."""

    def follow_life(self, notify: Callable[[SessionLife], None]) -> Callable[[], None]:
        """Call `notify` now and after each change. Returns a function that unsubscribes."""
        ...


class Session(Protocol):
    """A connection to a service, which may have a time limit. If a session also has the attribute `active`, a start is
    refused while that is False. A session with the method `follow_life` reports more (`ReportsLife`)."""

    async def open(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        """Open the session. `context` comes from an earlier session, if there was one."""
        ...

    async def renew(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        """Replace the connection with a new one before the old one ends. After that, notifications of the old
        connection are ignored."""
        ...

    async def close(self) -> None: ...
