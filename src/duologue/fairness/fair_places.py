"""Limits how many tasks of one event loop use a resource at the same time, such as the connections to a database. Each
task that uses it takes up one place. If all places are taken, tasks wait, and the conversations that they belong to
take turns.

Rule: a task that waits gets a place as soon as the fair queue chooses it. A task that is cancelled while it waits
doesn't keep a place.
"""

from __future__ import annotations

import asyncio

from .counted_pools import PoolCounts
from .fair_queue import FairQueue, QueueFull, Shares


class FairPlaces:
    """At most `shares.places` tasks may use the resource at the same time. `take` waits until one more task may, and
    `give_back` must be called afterwards."""

    def __init__(self, shares: Shares) -> None:
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue(shares)
        self._done = 0
        self._refused = 0

    @property
    def counts(self) -> PoolCounts:
        """How many tasks use the resource and wait for it, and how many have used it and were refused."""
        return PoolCounts(self._queue.running, self._queue.waiting, self._done, self._refused)

    @property
    def waiting(self) -> int:
        return self._queue.waiting

    async def take(self, owner: str) -> None:
        """Wait until a task of this owner (a conversation) may use the resource. Raises QueueFull if too many tasks of
        this owner wait."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            self._queue.put(owner, place)
        except QueueFull:
            self._refused += 1
            raise
        self._grant()
        try:
            await place
        except asyncio.CancelledError:
            if not self._queue.drop(owner, place) and place.done() and not place.cancelled():
                self.give_back(owner)  # granted in the same moment
            raise

    def give_back(self, owner: str) -> None:
        """Let another task use the resource, because a task of this owner (a conversation) doesn't use it any more."""
        self._queue.done(owner)
        self._done += 1
        self._grant()

    def _grant(self) -> None:
        while (taken := self._queue.take()) is not None:
            owner, place = taken
            if place.cancelled():
                self._queue.done(owner)
            else:
                place.set_result(None)
