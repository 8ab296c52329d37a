"""A fair queue. It decides which waiting work runs next when several owners share a limited number of places; a place
runs one piece of work at a time.

An owner is a conversation, or an address. The next work is taken from the owner that has the least work running. If
several have equally little, it is taken from the one that was served longest ago. Rule: the work of one owner keeps its
order. An owner may have at most `waiting_max` pieces waiting and `each_max` running. While more than half of the places
are in use, an owner gets a place only if none of its work is running, so that every owner gets a place soon.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

from duologue.core.errors import DuologueError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shares:
    """How much work may run at the same time (`places`), and how much of that may belong to one owner."""

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
    """The waiting work of all owners. `put` adds a piece of work, `take` returns the next piece that may run, and
    `done` frees the place of a piece that has ended."""

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
        """Add a piece of work. Raises QueueFull if too much work of this owner is waiting."""
        mine = self._waiting.setdefault(owner, deque())
        if len(mine) >= self.shares.waiting_max:
            raise QueueFull(f"this conversation has too much work waiting (limit: {self.shares.waiting_max})")
        mine.append(work)

    def take(self) -> tuple[str, T] | None:
        """Remove the next piece of work from the queue. Returns its owner and the work; None if no waiting work may run
        now."""
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
        """Note that a running piece of work of this owner has ended, so that its place is free."""
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
