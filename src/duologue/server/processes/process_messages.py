"""The messages between the parent and its server processes, as values, and how each is written in one packet.

A packet is a line of JSON, followed by the bytes of `data`. Rule: the type of every message is in `MESSAGES`. Only a
socket can be sent along with a packet.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, get_args

# -- From the parent


@dataclass(frozen=True, slots=True)
class Welcome:
    """The first message: what all processes of the server have in common."""

    process: int  # from 0
    count: int  # of all processes
    url: str  # of the server
    token: str  # that clients present
    token_key: str  # signs tokens of phone streams, and short-lived keys if there is no other secret; in hex
    folder: str  # private to the server, gone when it ends
    is_first: bool  # the first process of the server in its first life


@dataclass(frozen=True, slots=True)
class ConnectionPassed:
    """A client's socket comes with this message. `data` is what another process has already read from the socket: the
    first `request_bytes` bytes are the HTTP request, and the rest is what the client sent on its WebSocket. From now
    on, `seat` (the id of the client's browser) belongs to the receiving process. `is_greeted` says whether the client
    has already received the protocol's message `ready`."""

    is_websocket: bool
    data: bytes = b""
    request_bytes: int = 0
    seat: str = ""
    is_greeted: bool = False


@dataclass(frozen=True, slots=True)
class ClientFound:
    """The answer to `FindClient`: the process to which the client belongs."""

    question: int
    process: int


@dataclass(frozen=True, slots=True)
class SendMetrics:
    """Asks a process for its own metrics."""


@dataclass(frozen=True, slots=True)
class MetricsSummed:
    """The answer to `SumMetrics`: the metrics of all processes, as text."""

    question: int
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class ShareCalls:
    """Tells a process whether an operator at any process is looking at the list of conversations. If so, the process
    sends its own list now and whenever it changes."""

    is_wanted: bool


@dataclass(frozen=True, slots=True)
class TellLimits:
    """Asks a process to send everything that it knows about the limits of addresses to another process, which has just
    started."""

    process: int


@dataclass(frozen=True, slots=True)
class ProcessGone:
    """Another process has ended, so its sockets and conversations no longer count towards the limits of addresses."""

    process: int


@dataclass(frozen=True, slots=True)
class StopServing:
    """Tells a process to let its conversations end or move to another node, and then to end."""


# -- From a process


@dataclass(frozen=True, slots=True)
class Serving:
    """The process can take connections now. The parent prints `lines`, which tell the user what is served."""

    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leaving:
    """The process is stopping, and takes no more connections."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """How many WebSockets the process has open, and how many it has received so far. Sent when this changes, and every
    second."""

    open: int
    received: int


@dataclass(frozen=True, slots=True)
class FindClient:
    """Asks, when a client has said hello, to which process the client belongs. If it belongs to no process yet, it
    belongs from now on to the process that asks."""

    question: int
    seat: str
    conversation: str


@dataclass(frozen=True, slots=True)
class HandOn:
    """Asks the parent to pass this socket to the process with the number `process`. The other fields have the same
    meaning as in `ConnectionPassed`."""

    process: int
    is_websocket: bool
    data: bytes = b""
    request_bytes: int = 0
    seat: str = ""
    is_greeted: bool = False


@dataclass(frozen=True, slots=True)
class SeatLeft:
    """A socket that was counted for this seat (the id of a browser) is closed."""

    seat: str


@dataclass(frozen=True, slots=True)
class ConversationBegun:
    """The process has this conversation now."""

    conversation: str
    seat: str


@dataclass(frozen=True, slots=True)
class ConversationOver:
    """The conversation is over. The process still has its journal."""

    conversation: str


@dataclass(frozen=True, slots=True)
class ConversationForgotten:
    """The process no longer has anything about this conversation, not even its journal. This is also sent if another
    node now has the conversation."""

    conversation: str


@dataclass(frozen=True, slots=True)
class SumMetrics:
    """Asks the parent for the metrics of all processes, because a client wants them."""

    question: int


@dataclass(frozen=True, slots=True)
class OwnMetrics:
    """The answer to `SendMetrics`."""

    data: bytes = b""


@dataclass(frozen=True, slots=True)
class WantLimits:
    """The process has just started, and wants to be told from now on what the other processes grant to addresses."""


@dataclass(frozen=True, slots=True)
class WantCalls:
    """Tells the parent whether an operator at this process is looking at the list of conversations."""

    is_wanted: bool


# -- In both directions


@dataclass(frozen=True, slots=True)
class CallsPart:
    """A part of the list of conversations of `process`. The list is complete when the part with `is_last` has
    arrived."""

    process: int
    calls: tuple[dict[str, Any], ...]
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class LimitsPart:
    """What `process` reports about the limits of addresses, as rows of `limit_news`. The report is for the process
    `to`, or for all other processes if `to` is None."""

    process: int
    to: int | None
    rows: tuple[list[Any], ...]


FromParent: TypeAlias = (
    Welcome
    | ConnectionPassed
    | ClientFound
    | SendMetrics
    | MetricsSummed
    | ShareCalls
    | CallsPart
    | TellLimits
    | LimitsPart
    | ProcessGone
    | StopServing
)
FromProcess: TypeAlias = (
    Serving
    | Leaving
    | LoadReport
    | FindClient
    | HandOn
    | SeatLeft
    | ConversationBegun
    | ConversationOver
    | ConversationForgotten
    | SumMetrics
    | OwnMetrics
    | WantCalls
    | CallsPart
    | WantLimits
    | LimitsPart
)
ProcessMessage: TypeAlias = FromParent | FromProcess
MESSAGES: dict[str, Any] = {
    kind.__name__: kind for kind in dict.fromkeys((*get_args(FromParent), *get_args(FromProcess)))
}


def encode(message: ProcessMessage) -> bytes:
    """The message as one packet."""
    content = {one.name: getattr(message, one.name) for one in fields(message)}
    data = content.pop("data", b"")
    head = json.dumps([type(message).__name__, content], separators=(",", ":"))
    return b"\n".join((head.encode(), data))


def decode(packet: bytes) -> Any:
    """The message in a packet. Raises ValueError if the packet doesn't contain a valid message."""
    head, _, data = packet.partition(b"\n")
    try:
        name, content = json.loads(head)
        kind = MESSAGES[name]
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}
        has_data = any(one.name == "data" for one in fields(kind))
        return kind(**given, data=data) if has_data else kind(**given)
    except (KeyError, TypeError, AttributeError):
        raise ValueError("the packet isn't a message between server processes") from None
