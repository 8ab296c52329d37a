"""A bounded queue between two tasks of a conversation: one puts items in, the other takes them out.

asyncio's `Queue` could be used too, but each reply needs a queue, and a `Queue` takes 3 kB and more time than the items
themselves. Rule: only one task puts, and only one task gets.
"""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")


class HandoverQueue(Generic[T]):
    """At most `most` items. `put` waits while the queue is full, and `get` waits while it is empty."""

    __slots__ = ("_items", "_most", "_waiter")

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: list[T] = []
        self._waiter: asyncio.Future[None] | None = None  # of the task that waits; both never wait at the same time

    async def put(self, item: T) -> None:
        while len(self._items) >= self._most:
            await self._wait()
        self._items.append(item)
        self._wake()

    async def get(self) -> T:
        while not self._items:
            await self._wait()
        item = self._items.pop(0)
        self._wake()
        return item

    async def _wait(self) -> None:
        self._waiter = waiter = asyncio.get_running_loop().create_future()
        try:
            await waiter
        finally:
            if self._waiter is waiter:  # otherwise the other task waits by now
                self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
