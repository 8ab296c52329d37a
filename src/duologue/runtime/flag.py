"""A flag that tasks can wait for, like asyncio's `Event`. Each reply has two of them, and an `Event` takes eight times
as much memory, because of its empty queue of waiting tasks.
"""

from __future__ import annotations

import asyncio


class Flag:
    """A flag that is off at first. It must be used in one thread only."""

    __slots__ = ("_is_set", "_waiters")

    def __init__(self) -> None:
        self._is_set = False
        self._waiters: list[asyncio.Future[None]] | None = None

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        """Turn the flag on, and let all tasks that wait for it continue."""
        self._is_set = True
        waiters, self._waiters = self._waiters, None
        for waiter in waiters or ():
            if not waiter.done():
                waiter.set_result(None)

    def clear(self) -> None:
        """Turn the flag off."""
        self._is_set = False

    async def wait(self) -> None:
        """Wait until the flag is on. A task that began to wait continues after `set`, even if `clear` follows at
        once."""
        if self._is_set:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters = waiters = self._waiters or []
        waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiter in waiters:
                waiters.remove(waiter)
