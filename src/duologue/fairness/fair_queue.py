"""Which waiting work runs next, if several owners share a few places: a fair queue by owner.

An owner is a conversation, or an address. The next work is taken from the owner with the least running work. Among
equals, it is taken from the owner that was served longest ago. Rule: an owner's own work keeps its order; an owner has
at most `waiting_max` waiting and `each_max` running; and while more than half of the places are taken, each owner has
at most one, so that an owner with nothing running finds a place soon.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

from duologue.core.errors import DuologueError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shares:
    """How many places there are, and how many one owner may have."""

    places: int  # pieces of work that run at the same time
    each_max: int  # of them, for one owner
    waiting_max: int  # waiting pieces of work of one owner; more are refused

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")


class QueueFull(DuologueError):
    """One owner has too much work waiting. The message says how much is allowed."""


class FairQueue(Generic[T]):
    """Waiting work by owner. `put` adds a piece, `take` returns the next one that may run, and `done` frees its
    place."""

    def __init__(self, shares: Shares) -> None:
        self.shares = shares
        self._waiting: dict[str, deque[T]] = {}  # the owner that was served longest ago comes first
        self._running: dict[str, int] = {}

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def running(self) -> int:
        return sum(self._running.values())

    def put(self, owner: str, work: T) -> None:
        """Add a piece of work. Raises QueueFull if this owner has too many waiting."""
        mine = self._waiting.setdefault(owner, deque())
        if len(mine) >= self.shares.waiting_max:
            raise QueueFull(
                f"{len(mine)} pieces of work of this conversation wait already; at most {self.shares.waiting_max} may"
            )
        mine.append(work)

    def take(self) -> tuple[str, T] | None:
        """Take the next piece of work and its owner. None if no waiting work may run now."""
        running = self.running
        if running >= self.shares.places:
            return None
        each_max = self.shares.each_max if running * 2 <= self.shares.places else 1
        ready = [owner for owner in self._waiting if self._running.get(owner, 0) < each_max]
        if not ready:
            return None
        owner = min(ready, key=lambda one: self._running.get(one, 0))  # the first of equals
        mine = self._waiting.pop(owner)
        work = mine.popleft()
        if mine:
            self._waiting[owner] = mine  # last: this owner was served just now
        self._running[owner] = self._running.get(owner, 0) + 1
        return owner, work

    def done(self, owner: str) -> None:
        """Free the place of a piece of this owner's work that has ended."""
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]

    def drop(self, owner: str, work: T) -> bool:
        """Remove a waiting piece of work. Returns False if it isn't waiting."""
        mine = self._waiting.get(owner)
        if mine is None or work not in mine:
            return False
        mine.remove(work)
        if not mine:
            del self._waiting[owner]
        return True

    def clear(self) -> list[T]:
        """Remove all waiting work and return it."""
        waiting = [work for mine in self._waiting.values() for work in mine]
        self._waiting.clear()
        return waiting
