"""Seats: at most one active conversation for each client identity. A seat is such an identity.

Rule: a conversation holds its seat from its start to its end, even if it reconnects or fails in between.
"""

from __future__ import annotations

from duologue.core.errors import DuologueError


class SeatTaken(DuologueError):
    """This client is already in a conversation."""


class Seats:
    """The seats (identities of clients) that are taken, each with the conversation that holds it."""

    def __init__(self) -> None:
        self._taken: dict[str, object] = {}

    def take(self, seat: str, holder: object) -> None:
        """Take the seat of this client. Raises SeatTaken if another conversation holds it."""
        if self._taken.setdefault(seat, holder) is not holder:
            raise SeatTaken(f"the seat {seat!r} is already taken by a conversation: end that conversation first")

    def leave(self, seat: str, holder: object) -> None:
        if self._taken.get(seat) is holder:
            del self._taken[seat]

    def __len__(self) -> int:
        return len(self._taken)


SEATS = Seats()
