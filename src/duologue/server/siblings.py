"""Other processes of the same server, behind the same port, as one process knows them.

A process alone has none (`NoSiblings`). Rule: a client belongs to the process that has its conversation or its seat;
every other process gives the client's socket to that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

SCOPE_KEY = "duologue.connection"  # in the scope of a request: its connection, which can be given to another process


class Siblings(Protocol):
    """What a process tells the others, and asks them."""

    async def find(self, seat: str, conversation: str) -> int | None:
        """The other process to which this client belongs. None if it belongs here; then its seat is counted here until
        `leave_seat`. An empty seat isn't counted."""
        ...

    def leave_seat(self, seat: str) -> None:
        """A socket that was counted for this seat is closed."""
        ...

    def give_socket(self, connection: Any, process: int, seat: str, messages: Sequence[str] = ()) -> bool:
        """Give a WebSocket to another process, which reads what the client has sent, or these messages instead. Returns
        whether the socket is gone from here."""
        ...

    def give_request(self, scope: dict[str, Any], process: int) -> bool:
        """Give a request without a body to another process, with its connection. Returns whether it is gone from
        here."""
        ...

    def note_begun(self, conversation: str, seat: str) -> None:
        """Tell the others that this process has this conversation now."""
        ...

    def note_ended(self, conversation: str) -> None:
        """Tell the others that the conversation is over. Its journal is still here."""
        ...

    def note_forgotten(self, conversation: str) -> None:
        """Tell the others that this process has nothing of the conversation any more, or that another node has it."""
        ...

    def want_calls(self, is_wanted: bool) -> None:
        """Does an operator here see the list of calls?"""
        ...

    def share_calls(self, calls: Sequence[dict[str, Any]]) -> None:
        """Send the list of this process's calls to the processes whose operators see the list of all calls."""
        ...

    async def metrics(self, own: str) -> str:
        """The metrics of all processes. `own` are those of this one."""
        ...


class NoSiblings:
    """One process that serves everything itself."""

    async def find(self, seat: str, conversation: str) -> int | None:  # noqa: ARG002
        return None

    def leave_seat(self, seat: str) -> None: ...

    def give_socket(self, connection: Any, process: int, seat: str, messages: Sequence[str] = ()) -> bool:  # noqa: ARG002
        return False

    def give_request(self, scope: dict[str, Any], process: int) -> bool:  # noqa: ARG002
        return False

    def note_begun(self, conversation: str, seat: str) -> None: ...

    def note_ended(self, conversation: str) -> None: ...

    def note_forgotten(self, conversation: str) -> None: ...

    def want_calls(self, is_wanted: bool) -> None: ...

    def share_calls(self, calls: Sequence[dict[str, Any]]) -> None: ...

    async def metrics(self, own: str) -> str:
        return own


ALONE = NoSiblings()
