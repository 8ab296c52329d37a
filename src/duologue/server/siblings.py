"""What one server process can ask and tell the other processes of the same server, which share its port.

If there is only one process, `NoSiblings` is used. Rule: a client belongs to the process that has its conversation or
its seat (the id of its browser). If another process gets the client's socket, it passes the socket on to that process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from .limit_news import LimitNews, RoomWanted

SCOPE_KEY = "duologue.connection"  # in the scope of a request: its connection, which can be given to another process


class Siblings(Protocol):
    """What a process can tell the server's other processes, and ask them."""

    @property
    def shared_key(self) -> str:
        """A random text that only the processes of this server know. Empty if there is only one process."""
        ...

    @property
    def shared_folder(self) -> str:
        """A folder that only the processes of this server can read, and that is deleted when the server ends. Empty if
        there is only one process."""
        ...

    async def find(self, seat: str, conversation: str) -> int | None:
        """Find the process to which this client belongs. Returns the number of that process; None if it is this
        process. If it is, the client's `seat` (the id of its browser; may be empty) belongs to this process until
        `leave_seat` is called."""
        ...

    def leave_seat(self, seat: str) -> None:
        """Note that a socket which was counted for this seat (the id of a browser) is closed."""
        ...

    def give_socket(self, connection: Any, process: int, seat: str, messages: Sequence[str] = ()) -> bool:
        """Pass a WebSocket on to another process. That process reads again what the client has sent, or reads
        `messages` instead if they are given. Returns whether that worked; if not, the socket stays in this process."""
        ...

    def give_request(self, scope: dict[str, Any], process: int, body: bytes = b"") -> bool:
        """Pass a request on to another process, together with its connection. `body` is the whole body of the request.
        Returns whether that worked; if not, this process must answer the request."""
        ...

    def note_begun(self, conversation: str, seat: str) -> None:
        """Tell the other processes that this process has this conversation now."""
        ...

    def note_ended(self, conversation: str) -> None:
        """Tell the other processes that the conversation is over. Its journal is still in this process."""
        ...

    def note_forgotten(self, conversation: str) -> None:
        """Tell the other processes that this process no longer has anything about the conversation, or that another
        node has it."""
        ...

    def want_calls(self, is_wanted: bool) -> None:
        """Tell the other processes whether an operator in this process is looking at the list of conversations."""
        ...

    def share_calls(self, calls: Sequence[dict[str, Any]]) -> None:
        """Send the list of this process's conversations to the other processes in which an operator looks at such
        lists."""
        ...

    def tell_limit(self, news: LimitNews) -> None:
        """Tell the other processes what this one has granted to an address, or what the address has given back."""
        ...

    def ask_for_room(self, process: int, news: RoomWanted) -> None:
        """Ask another process to end a conversation in which nothing was said, because the server is full."""
        ...

    async def metrics(self, own: str) -> str:
        """The metrics of all processes, summed up. `own` has the metrics of this process."""
        ...


class NoSiblings:
    """The implementation for a server with only one process, which serves every client itself."""

    @property
    def shared_key(self) -> str:
        return ""

    @property
    def shared_folder(self) -> str:
        return ""

    async def find(self, seat: str, conversation: str) -> int | None:  # noqa: ARG002
        return None

    def leave_seat(self, seat: str) -> None: ...

    def give_socket(self, connection: Any, process: int, seat: str, messages: Sequence[str] = ()) -> bool:  # noqa: ARG002
        return False

    def give_request(self, scope: dict[str, Any], process: int, body: bytes = b"") -> bool:  # noqa: ARG002
        return False

    def note_begun(self, conversation: str, seat: str) -> None: ...

    def note_ended(self, conversation: str) -> None: ...

    def note_forgotten(self, conversation: str) -> None: ...

    def want_calls(self, is_wanted: bool) -> None: ...

    def share_calls(self, calls: Sequence[dict[str, Any]]) -> None: ...

    def tell_limit(self, news: LimitNews) -> None: ...

    def ask_for_room(self, process: int, news: RoomWanted) -> None: ...

    async def metrics(self, own: str) -> str:
        return own


ALONE = NoSiblings()
