"""Knows which server process has each seat (the id of a browser) and each conversation, and chooses the process for the
next socket. No I/O.

When a client says hello, the parent asks the directory to which process the client belongs. All sockets of one seat
belong to the same process. A client that reconnects belongs to the process that has its conversation. Rule: when a
process ends, everything about it is forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class _Place:
    """The process that has a conversation, and the seat (the id of the client's browser). `seat` is empty if it isn't
    known, or if the conversation is over."""

    process: int
    seat: str


class Directory:
    """Which process has each seat (the id of a browser) and each conversation."""

    def __init__(self) -> None:
        self._seats: dict[str, Counter[int]] = {}  # by seat: how many sockets and conversations of each process
        self._conversations: dict[str, _Place] = {}

    def __len__(self) -> int:
        """How many seats (ids of browsers) and conversations are known."""
        return len(self._seats) + len(self._conversations)

    def find(self, seat: str, conversation: str) -> int | None:
        """The number of the process that has this conversation. If no process has it, the process that has this seat
        (the id of the client's browser); None if no process has the seat either."""
        place = self._conversations.get(conversation)
        if place is not None:
            return place.process
        return next(iter(self._seats.get(seat, ())), None)

    # -- Seats

    def enter(self, process: int, seat: str) -> None:
        """Note that this process has one more socket or conversation of this seat (the id of a browser)."""
        self._seats.setdefault(seat, Counter())[process] += 1

    def leave(self, process: int, seat: str) -> None:
        """Note that this process has one socket or conversation less of this seat (the id of a browser)."""
        held = self._seats.get(seat)
        if held is None or process not in held:
            return
        held[process] -= 1
        if held[process] <= 0:
            del held[process]
        if not held:
            del self._seats[seat]

    # -- Conversations

    def begin(self, process: int, conversation: str, seat: str) -> None:
        """Note that this process has the conversation now, and that no other process has it any more."""
        former = self._conversations.get(conversation)
        if former is not None:
            self.leave(former.process, former.seat)
        self._conversations[conversation] = _Place(process, seat)
        if seat:  # unknown if the conversation was restored without its client
            self.enter(process, seat)

    def end(self, process: int, conversation: str) -> None:
        """Note that the conversation is over. Its process still has the journal and the messages that the client has
        missed, so clients still find it there."""
        place = self._conversations.get(conversation)
        if place is not None and place.process == process:
            self.leave(process, place.seat)
            place.seat = ""

    def forget(self, process: int, conversation: str) -> None:
        """Note that this process no longer has anything about the conversation, not even its journal."""
        self.end(process, conversation)
        place = self._conversations.get(conversation)
        if place is not None and place.process == process:
            del self._conversations[conversation]

    def drop(self, process: int) -> None:
        """Forget everything about a process that has ended."""
        gone = [name for name, place in self._conversations.items() if place.process == process]
        for name in gone:
            del self._conversations[name]
        for seat, held in list(self._seats.items()):
            held.pop(process, None)
            if not held:
                del self._seats[seat]


class Loads:
    """How many open WebSockets each process has. Each process reports how many it has open, and how many it has
    received so far. Sockets that are on their way to the process are added."""

    def __init__(self, count: int) -> None:
        self._sent = [0] * count
        self._received = [0] * count
        self._open = [0] * count

    def __getitem__(self, process: int) -> int:
        return self._open[process] + self._sent[process] - self._received[process]

    def send(self, process: int) -> None:
        self._sent[process] += 1

    def report(self, process: int, open_: int, received: int) -> None:
        self._open[process], self._received[process] = open_, received

    def drop(self, process: int) -> None:
        self._sent[process] = self._received[process] = self._open[process] = 0

    def least(self, processes: Iterable[int]) -> int | None:
        """The process with the fewest open sockets; None if there is no process. Of processes with equally few, it is
        the one that was sent the fewest sockets so far."""
        return min(processes, key=lambda process: (self[process], self._sent[process]), default=None)
