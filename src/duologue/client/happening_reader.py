"""A queue of a client's happenings, for one part of a program that reads them.

Rule: the queue is bounded. A reader that falls behind gets an error instead of a gap that it can't see.
"""

from __future__ import annotations

import asyncio
from typing import Self

from .failures import ClientFailed
from .happenings import OVER, ConnectionChanged, Happening

UNREAD_MAX = 10_000


class HappeningReader:
    """An async iterator over the client's happenings. It ends when the client is closed or refused, or gives up. While
    UNREAD_MAX happenings wait to be read, later ones are dropped; once the waiting ones are read, ClientFailed is
    raised."""

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
