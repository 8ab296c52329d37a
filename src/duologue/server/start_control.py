"""Counts the conversations of a server, and decides whether a client may start another one. Conversations of the
server's other processes are counted together with those of this process.

Rule: the pure module `start_limits` decides; this class has the conversations, and adds the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from duologue.runtime.conversation import Conversation

from .caller_budget import Refused
from .limit_news import PlaceKind, RoomWanted
from .limited_caller import now_ms
from .settings import Limits
from .shared_limits import STARTS, SharedLimits
from .start_limits import Occupancy, UnspokenConversation, first_to_end, too_soon, why_not

GIVE_WAY_S_MIN = 30.0  # a conversation in which nothing was said keeps its place at least this long
GIVE_WAY = "others needed the place, and nothing was said"


class CountedConversation(Protocol):
    """A conversation that counts towards the limits of its client's address."""

    @property
    def id(self) -> str: ...

    @property
    def address(self) -> str: ...

    @property
    def began(self) -> datetime: ...

    @property
    def is_over(self) -> bool: ...

    @property
    def has_spoken(self) -> bool: ...

    def give_way(self, reason: str) -> None: ...


class StartControl:
    """The conversations of one server process that count towards the limits, on all lines but the phone. `ask_for_room`
    asks another process to end a conversation in which nothing was said."""

    def __init__(self, limits: Limits, shared: SharedLimits, ask_for_room: Callable[[int, RoomWanted], None]) -> None:
        self.give_way_s_min = GIVE_WAY_S_MIN
        self._limits = limits
        self._shared = shared
        self._ask_for_room = ask_for_room
        self._counted: dict[str, CountedConversation] = {}
        self._numbers: dict[str, int] = {}  # by conversation: its place in the shared limits
        shared.on_room_wanted = self._make_room

    def __len__(self) -> int:
        """How many conversations of this process count towards the limits."""
        return len(self._counted)

    # -- Counting

    def count(self, one: CountedConversation) -> None:
        """Count this conversation until `uncount` is called. A conversation with the same id is replaced."""
        self._counted[one.id] = one
        if one.id not in self._numbers:
            self._numbers[one.id] = self._shared.hold(PlaceKind.UNSPOKEN, one.address, _ms_of(one.began))

    def uncount(self, one: CountedConversation) -> None:
        """Stop counting this conversation. Does nothing if it isn't counted."""
        if self._counted.get(one.id) is one:
            del self._counted[one.id]
            self._shared.leave(self._numbers.pop(one.id))

    def watch(self, conversation: Conversation) -> None:
        """Tell the other processes once the first turn of this conversation was said. A user who only begins to speak
        isn't reported, because noise could cause such reports again and again."""
        number, watchers = self._numbers.get(conversation.id), conversation.engine.watchers
        if number is None:
            return

        def note(_record: object = None) -> None:
            if conversation.machine_state.said > 0:
                watchers.remove(note)
                self._shared.change(number, PlaceKind.SPOKEN)

        watchers.append(note)
        note()  # a conversation that began in another process may have turns already

    # -- Starting

    @property
    def is_full(self) -> bool:
        """Does the whole server, with all its processes, have as many conversations as it may have?"""
        return self._running >= self._limits.conversations_max

    @property
    def _running(self) -> int:
        elsewhere = self._shared.elsewhere
        return len(self._counted) + elsewhere.total(PlaceKind.UNSPOKEN) + elsewhere.total(PlaceKind.SPOKEN)

    def why_not(self, address: str) -> Refused | None:
        """Decide whether a client at this address can start a conversation now. Returns why it can't; None if it can.
        If the server is full, an older conversation in which the user has said nothing is ended to make room."""
        gives_way = first_to_end(self._unspoken()) if self.is_full else None
        refused = why_not(self._limits, self._occupancy(address, gives_way is not None))
        if refused is None:
            wait_ms = self._shared.take(STARTS, address, now_ms())
            refused = too_soon(wait_ms) if wait_ms != 0 else None
        if refused is None and gives_way is not None:
            if gives_way.process is None:
                self._make_room(gives_way.number)
            else:
                self._ask_for_room(gives_way.process, RoomWanted(gives_way.number))
        return refused

    def _occupancy(self, address: str, one_gives_way: bool) -> Occupancy:
        own = [one for one in self._counted.values() if one.address == address]
        unspoken = self._shared.elsewhere.count(PlaceKind.UNSPOKEN, address)
        spoken = self._shared.elsewhere.count(PlaceKind.SPOKEN, address)
        return Occupancy(
            self._running - one_gives_way,
            len(own) + unspoken + spoken,
            sum(not one.has_spoken for one in own) + unspoken,
        )

    def _unspoken(self) -> list[UnspokenConversation]:
        """Conversations, in any process, that may be ended to make room: those that are at least `give_way_s_min`
        seconds old and in which the user hasn't said anything."""
        until_ms = _ms_of(datetime.now(UTC)) - round(self.give_way_s_min * 1000)
        here = [
            UnspokenConversation(None, self._numbers[id_], one.address, _ms_of(one.began))
            for id_, one in self._counted.items()
            if not one.has_spoken and not one.is_over and _ms_of(one.began) <= until_ms
        ]
        elsewhere = self._shared.elsewhere.unspoken_until(until_ms)
        return here + [
            UnspokenConversation(process, held.number, held.address, held.since_ms) for process, held in elsewhere
        ]

    def _make_room(self, number: int) -> None:
        """End the conversation that holds this place (its number in the limits), unless its user has spoken since it
        was chosen."""
        for id_, one in self._counted.items():
            if self._numbers[id_] == number and not one.has_spoken and not one.is_over:
                one.give_way(GIVE_WAY)
                return


def _ms_of(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
