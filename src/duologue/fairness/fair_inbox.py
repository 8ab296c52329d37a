"""An inbox through which the event loop gives work to one thread. The conversations take turns: the thread takes one
piece of work from each.

Rule: a conversation that adds a lot of work delays only itself. After `finish`, the thread gets the waiting pieces,
then the pieces that were passed to `finish`, and then None.
"""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

from .fair_queue import FairQueue, QueueFull, Shares

T = TypeVar("T")
_ANY = 1 << 30  # the thread takes as many at a time as it likes


class FairInbox(Generic[T]):
    """Holds at most `waiting_max` pieces of work, and at most `each_max` pieces of each owner (conversation)."""

    def __init__(self, waiting_max: int, each_max: int) -> None:
        self._waiting_max = waiting_max
        self._queue: FairQueue[T] = FairQueue(Shares(_ANY, _ANY, each_max))
        self._changed = threading.Condition()
        self._last: list[T] = []
        self._is_finished = False

    def __len__(self) -> int:
        return self._queue.waiting

    def put(self, owner: str, item: T) -> None:
        """Add a piece of work. Raises QueueFull if too many pieces are waiting."""
        with self._changed:
            if self._queue.waiting >= self._waiting_max:
                raise QueueFull(f"the inbox has too much work waiting (limit: {self._waiting_max})")
            self._queue.put(owner, item)
            self._changed.notify()

    def finish(self, *last: T) -> None:
        """Let `get` return the waiting pieces, then the pieces in `last`, and then None."""
        with self._changed:
            self._last.extend(last)
            self._is_finished = True
            self._changed.notify()

    def get(self) -> T | None:
        """Wait for the next piece of work and return it. Returns None after `finish`, when no piece is left."""
        with self._changed:
            while (found := self._next()) is None and not self._is_finished:
                self._changed.wait()
            return found

    def get_now(self) -> T | None:
        """Take the next piece without waiting; None if no piece is there. Pieces that were passed to `finish` are
        returned only by `get`."""
        with self._changed:
            return self._next() if self._queue.waiting else None

    def _next(self) -> T | None:
        taken = self._queue.take()
        if taken is None:
            return self._last.pop(0) if self._last else None
        owner, item = taken
        self._queue.done(owner)
        return item
