"""Places that the tasks of one event loop share, such as the connections to a database, with a fair queue by
conversation.

Rule: a task that waits gets a place as soon as the fair queue chooses it. A task that is cancelled while it waits
doesn't keep a place.
"""

from __future__ import annotations

import asyncio

from .fair_queue import FairQueue, Shares


class FairPlaces:
    """At most `shares.places` places. `take` waits for a place, and `give_back` frees it."""

    def __init__(self, shares: Shares) -> None:
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue(shares)

    @property
    def waiting(self) -> int:
        return self._queue.waiting

    async def take(self, owner: str) -> None:
        """Wait for a place for this owner (a conversation). Raises QueueFull if too many tasks of this owner wait."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put(owner, place)
        self._grant()
        try:
            await place
        except asyncio.CancelledError:
            if not self._queue.drop(owner, place) and place.done() and not place.cancelled():
                self.give_back(owner)  # granted in the same moment
            raise

    def give_back(self, owner: str) -> None:
        """Free one place of this owner."""
        self._queue.done(owner)
        self._grant()

    def _grant(self) -> None:
        while (taken := self._queue.take()) is not None:
            owner, place = taken
            if place.cancelled():
                self._queue.done(owner)
            else:
                place.set_result(None)
