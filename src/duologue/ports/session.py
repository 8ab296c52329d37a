"""The session port: the connection to a service that a conversation needs, and the context that one session passes to
the next.

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
    """What one session passes on to the next: a summary, the most recent items of the history, and notes."""

    summary: str = ""
    recent: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()  # active files and other facts that the program adds


@dataclass(frozen=True, slots=True)
class SessionLife:
    """A report about a session before its conversation starts: whether the session is active, and when it expires."""

    active: bool = True
    left_ms: int | None = None  # until it expires; None if it doesn't expire, or if that isn't known


@runtime_checkable
class ReportsLife(Protocol):
    """A session that exists before its conversation starts, and that may be inactive or may expire. Example: a session
    whose key is valid for some minutes. A conversation can't start while its session is inactive, or if the session
    would expire within `session_ms_max` minus `session_warning_ms` (both are settings)."""

    def follow_life(self, notify: Callable[[SessionLife], None]) -> Callable[[], None]:
        """Call `notify` now and after each change. Returns a function that unsubscribes."""
        ...


class Session(Protocol):
    """A connection to a service, which may have a time limit. If it has the attribute `active`, a conversation can't
    start while `active` is False. If it has the method `follow_life` (see `ReportsLife`), it also reports when it
    expires."""

    async def open(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        """Open the session. `context` comes from an earlier session, if there was one."""
        ...

    async def renew(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        """Replace the connection with a new one before the old one ends. From then on, notifications from the old
        connection are ignored."""
        ...

    async def close(self) -> None: ...
