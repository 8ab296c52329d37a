"""A queue of what happens, for one part of a program that reads it.

Rule: it is bounded. A reader that falls behind gets an error instead of a gap that it can't see.
"""

from __future__ import annotations

import asyncio
from typing import Self

from .failures import ClientFailed
from .happenings import OVER, ConnectionChanged, Happening

UNREAD_MAX = 10_000


class HappeningReader:
    """Iterate over it. The iteration ends when the client is closed, refused or gives up. Raises ClientFailed if more
    than UNREAD_MAX happenings were not read."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Happening] = asyncio.Queue()
        self._is_over = False
        self._is_late = False

    def put(self, told: Happening) -> None:
        if self._queue.qsize() < UNREAD_MAX:
            self._queue.put_nowait(told)
        else:
            self._is_late = True

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Happening:
        if self._is_over:
            raise StopAsyncIteration
        if self._is_late and self._queue.empty():
            raise ClientFailed(f"more than {UNREAD_MAX} happenings were not read: read them faster")
        told = await self._queue.get()
        self._is_over = isinstance(told, ConnectionChanged) and told.phase in OVER
        return told
