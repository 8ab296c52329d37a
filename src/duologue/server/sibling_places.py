"""The places in the limits of addresses that sockets and conversations in the other processes of this server take up.
No I/O.

Rule: the newest report of a process about a place counts, and a repeated report changes nothing. When a process has
ended, all its places are free.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from .limit_news import PlaceHeld, PlaceKind


class SiblingPlace(NamedTuple):
    """A socket or conversation in another process, which takes up one place in the limits of its address."""

    process: int
    held: PlaceHeld


class SiblingPlaces:
    """The sockets and conversations of all other processes. Counting them takes the same time however many there
    are."""

    def __init__(self) -> None:
        self._held: dict[int, dict[int, PlaceHeld]] = {}  # by process and number
        self._by_address: Counter[tuple[PlaceKind, str]] = Counter()
        self._by_kind: Counter[PlaceKind] = Counter()

    def count(self, kind: PlaceKind, address: str) -> int:
        """How many sockets or conversations of this `kind` the address has in the other processes."""
        return self._by_address[kind, address]

    def total(self, kind: PlaceKind) -> int:
        """How many sockets or conversations of this `kind` all addresses together have in the other processes."""
        return self._by_kind[kind]

    def unspoken_until(self, until_ms: int) -> list[SiblingPlace]:
        """The conversations in other processes in which no turn was said, if they began at this time or earlier."""
        return [
            SiblingPlace(process, place)
            for process, places in self._held.items()
            for place in places.values()
            if place.kind is PlaceKind.UNSPOKEN and place.since_ms <= until_ms
        ]

    # -- What processes tell

    def hold(self, process: int, place: PlaceHeld) -> None:
        self.leave(process, place.number)
        self._held.setdefault(process, {})[place.number] = place
        self._by_address[place.kind, place.address] += 1
        self._by_kind[place.kind] += 1

    def leave(self, process: int, number: int) -> None:
        place = self._held.get(process, {}).pop(number, None)
        if place is not None:
            self._uncount(place)

    def drop(self, process: int) -> None:
        """Forget the sockets and conversations of a process that has ended."""
        for place in self._held.pop(process, {}).values():
            self._uncount(place)

    def _uncount(self, place: PlaceHeld) -> None:
        self._by_kind[place.kind] -= 1
        key = place.kind, place.address
        self._by_address[key] -= 1
        if not self._by_address[key]:
            del self._by_address[key]
