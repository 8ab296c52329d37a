"""The session port: what has to be open for a conversation to go on, and what a new one must know.

Rule: a session that fails to open raises; `ServiceError` says of which class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .history import Item
from .line import Closed, Healed, Wobbled


@dataclass(frozen=True, slots=True)
class Context:
    """What goes from one session to the next."""

    summary: str = ""
    recent: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()  # active files and whatever else the program wants kept


class Session(Protocol):
    """A connection with a beginning, a limit and an end."""

    async def open(self, context: Context | None, tell: Callable[[Wobbled | Healed | Closed], None]) -> None:
        """Open it; `context` is what an earlier session left."""
        ...

    async def renew(self, context: Context | None, tell: Callable[[Wobbled | Healed | Closed], None]) -> None:
        """Replace it with a fresh one before it ends. What the old one still tells is not listened to."""
        ...

    async def close(self) -> None: ...
