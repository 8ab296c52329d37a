"""The session port: the connection that a conversation needs, and the context that the next session gets.

Rule: `open` and `renew` raise if they fail. A `ServiceError` names the error class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .history import Item
from .line import Closed, Healed, Wobbled


@dataclass(frozen=True, slots=True)
class Context:
    """What one session passes on to the next."""

    summary: str = ""
    recent: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()  # active files and other facts that the program adds


class Session(Protocol):
    """A connection to a service, which may have a time limit. If a session also has the attribute `active`, a start is
    refused while that is False: the session isn't there yet, or is about to expire."""

    async def open(self, context: Context | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        """Open the session. `context` comes from an earlier session, if there was one."""
        ...

    async def renew(self, context: Context | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        """Replace the connection with a new one before the old one ends. After that, notifications of the old
        connection are ignored."""
        ...

    async def close(self) -> None: ...
