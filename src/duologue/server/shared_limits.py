"""The limits of addresses over all processes of a server. Each process tells the others what it grants, and counts what
they grant together with its own. No I/O and no clock.

Each process decides alone and at once; the others learn of its decision a few milliseconds later. If an address asks
several processes within that time, they may together grant a little too much. Then further requests are refused until
enough conversations have ended, and until the bucket (the rate limit) is refilled. Rule: when a process has ended, its
sockets and conversations no longer count, but what it took from buckets stays taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from duologue.fairness.bucket import Rate
from duologue.fairness.buckets_by_caller import BucketsByCaller

from .limit_news import (
    BucketLevel,
    BucketUsed,
    LimitNews,
    PlaceHeld,
    PlaceKind,
    PlaceLeft,
    RoomWanted,
    WrongCounted,
    WrongPresented,
)
from .settings import Limits
from .sibling_places import SiblingPlaces
from .wrong_credentials import WrongCredentials

STARTS = "starts"
CONNECTIONS = "connections"
REQUESTS = "requests"
REQUEST = 4  # what a request uses of the bucket REQUESTS
FILE_REQUEST = 1  # the same for a file that is in memory: a quarter of a request
TellSiblings: TypeAlias = Callable[[LimitNews], None]


def _tell_no_one(_news: LimitNews) -> None: ...


class SharedLimits:
    """The limits of one process, together with what the other processes have granted. `tell` is called with each piece
    of news for the other processes."""

    def __init__(self, limits: Limits, tell: TellSiblings = _tell_no_one) -> None:
        self.elsewhere = SiblingPlaces()
        self.on_room_wanted: Callable[[int], None] = lambda _number: None
        self._tell = tell
        requests = limits.requests
        quarters = Rate(requests.amount * REQUEST, requests.per_ms, requests.burst * REQUEST)
        rates = {STARTS: limits.starts, CONNECTIONS: limits.connections, REQUESTS: quarters}
        self._buckets = {name: BucketsByCaller(rate) for name, rate in rates.items()}
        self._wrong = WrongCredentials(limits.wrong_token_s_max)
        self._own: dict[int, PlaceHeld] = {}
        self._newest = 0

    # -- Rates

    def take(self, bucket: str, address: str, now_ms: int, amount: int = 1) -> int | None:
        """Use this amount of this bucket, if the address may use it now. Returns 0 if it was used. Otherwise returns
        how many milliseconds to wait; None if waiting doesn't help."""
        wait_ms = self._buckets[bucket].take(address, amount, now_ms)
        if wait_ms == 0:
            self._tell(BucketUsed(bucket, address, amount))
        return wait_ms

    def note_wrong(self, address: str, now_s: float) -> float:
        """Note that a wrong credential was presented. Returns by how many seconds its refusal should be delayed."""
        wait_s = self._wrong.note(address, now_s)
        self._tell(WrongPresented(address))
        return wait_s

    def wrong_count(self, address: str) -> int:
        """How many wrong credentials from this address are remembered."""
        return self._wrong.count(address)

    # -- Places

    def hold(self, kind: PlaceKind, address: str, since_ms: int) -> int:
        """Record that the address has one more socket or conversation in this process. Returns the number of the place
        that it takes up in the limits."""
        self._newest += 1
        self._put(PlaceHeld(self._newest, kind, address, since_ms))
        return self._newest

    def change(self, number: int, kind: PlaceKind) -> None:
        """Record what takes up the place with this number now. Example: a conversation in which nothing was said
        becomes one in which a turn was said."""
        held = self._own.get(number)
        if held is not None and held.kind is not kind:
            self._put(PlaceHeld(number, kind, held.address, held.since_ms))

    def leave(self, number: int) -> None:
        """Note that the socket or conversation that took up the place with this number has ended."""
        if self._own.pop(number, None) is not None:
            self._tell(PlaceLeft(number))

    def _put(self, place: PlaceHeld) -> None:
        self._own[place.number] = place
        self._tell(place)

    # -- Other processes

    def note(self, process: int, news: LimitNews, now_ms: int) -> None:
        """Process a report of another process on what an address has used of its limits."""
        match news:
            case PlaceHeld():
                self.elsewhere.hold(process, news)
            case PlaceLeft():
                self.elsewhere.leave(process, news.number)
            case BucketUsed():
                self._buckets[news.bucket].use(news.address, news.amount, now_ms)
            case BucketLevel():
                self._buckets[news.bucket].lower(news.address, news.parts, now_ms)
            case WrongPresented():
                self._wrong.note(news.address, now_ms / 1000)
            case WrongCounted():
                self._wrong.raise_to(news.address, news.count, now_ms / 1000)
            case RoomWanted():
                self.on_room_wanted(news.number)

    def drop(self, process: int) -> None:
        """Forget the sockets and conversations of another process, because that process has ended."""
        self.elsewhere.drop(process)

    def everything(self, now_ms: int) -> Iterator[LimitNews]:
        """What a process that has just started has to know: the sockets and conversations of this process, and how much
        each address has used of its limits."""
        yield from self._own.values()
        for name, buckets in self._buckets.items():
            for address, parts in buckets.levels(now_ms).items():
                yield BucketLevel(name, address, parts)
        for address, count in self._wrong.counts(now_ms / 1000).items():
            yield WrongCounted(address, count)
