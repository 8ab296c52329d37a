"""A queue of a client's happenings, for one reader in a program.

Rule: the size of the queue is limited. A reader that is too slow gets an error, so that it can't miss happenings
unnoticed.
"""

from __future__ import annotations

import asyncio
from typing import Self

from .failures import ClientFailed
from .happenings import OVER, ConnectionChanged, Happening

UNREAD_MAX = 10_000


class HappeningReader:
    """An async iterator over the client's happenings. It ends when the client is closed, when the server refuses the
    client, or when the client gives up reconnecting. If UNREAD_MAX happenings are waiting to be read, later ones are
    dropped. After the reader has read the waiting ones, ClientFailed is raised."""

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
