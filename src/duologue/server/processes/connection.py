"""Connections that a server process gets from its parent, and can pass on to another process.

A process learns only from a client's hello message that the client's conversation is in another process. By then, the
WebSocket is open. So the first process remembers everything that it has read from the client, and the other process
reads it again: first the HTTP request, then the messages. The other process's answer to the request is dropped, because
the client has received one already. Rule: uvicorn's protocols are used through asyncio's interface only, except for
their attribute `app`.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import uvicorn

from ..direct_messages import DirectMessages
from ..refused_handshakes import RefusableSocket
from ..siblings import SCOPE_KEY

BODY_HEADERS = (b"content-length", b"transfer-encoding", b"expect")
READ_BYTES_MAX = 100_000  # a client that sent more before its hello was answered stays where it is


class Given(NamedTuple):
    """A connection that is being passed to another process: its file descriptor, and the bytes that were read from
    it."""

    descriptor: int
    data: bytes
    request_bytes: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a connection came to this process. If `data` isn't empty, another process had the connection before, and has
    read this data from it."""

    data: bytes = b""
    request_bytes: int = 0
    seat: str = ""  # counted for this process by the parent
    is_greeted: bool = False

    @property
    def is_handed(self) -> bool:
        return bool(self.data)


class Giveable(asyncio.Protocol):
    """The base of the two protocol classes: adds the connection object to the ASGI scope of each of its requests."""

    app: Callable[..., Any]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.arrival = Arrival()
        self._wire: Any = None
        inner = self.app

        async def with_connection(scope: dict[str, Any], receive: Any, send: Any) -> Any:
            return await inner({**scope, SCOPE_KEY: self}, receive, send)

        self.app = with_connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = transport
        super().connection_made(transport)

    def give(self, data: bytes, request_bytes: int) -> Given | None:
        """Take the connection away from this process, without sending anything to the client. Returns what another
        process needs to continue; None if the connection is closed."""
        if self._wire is None or self._wire.is_closing():
            return None
        given = Given(os.dup(self._wire.get_extra_info("socket").fileno()), data, request_bytes)
        self._wire.abort()
        return given


class GiveableHttp(Giveable):
    """A connection with plain HTTP requests. This class is combined with the HTTP protocol class that uvicorn has
    chosen."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self.arrival.is_handed:
            self.data_received(self.arrival.data)

    def give_request(self, scope: dict[str, Any], body: bytes = b"") -> Given | None:
        """Like `give`, for a connection whose newest request wasn't answered yet. The other process reads this request
        again, so `body` must be its whole body."""
        request = request_of(scope, body)
        return self.give(request, len(request))


class GiveableSocket(Giveable, DirectMessages, RefusableSocket):
    """A WebSocket. It remembers what it reads until `settle` is called."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._request = b""
        self._frames: list[bytes] | None = []
        self._frames_bytes = 0
        self._later: list[bytes] | None = None  # read, and not passed on before the handshake is repeated

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        arrival = self.arrival
        if not arrival.is_handed:
            super().connection_made(transport)
            return
        self._later = [arrival.data[arrival.request_bytes :]]
        super().connection_made(UnansweredConnection(transport, self._note_handshake))  # type: ignore[arg-type]
        self._pass_on(arrival.data[: arrival.request_bytes])

    def data_received(self, data: bytes) -> None:
        if self._later is not None:
            self._later.append(data)
        else:
            self._pass_on(data)

    def _pass_on(self, data: bytes) -> None:
        if not self._request:
            self._request = data  # uvicorn passes the request in one piece
        elif self._frames is not None:
            self._frames_bytes += len(data)
            self._frames = [*self._frames, data] if self._frames_bytes <= READ_BYTES_MAX else None
        super().data_received(data)

    def _note_handshake(self) -> None:
        asyncio.get_running_loop().call_soon(self._read_later)

    def _read_later(self) -> None:
        later, self._later = self._later or [], None
        for data in later:
            if data and not self._wire.is_closing():
                self._pass_on(data)

    def settle(self) -> None:
        """Note that the connection stays in this process, so what it reads needn't be remembered any more."""
        self._frames = None

    def give_socket(self, messages: tuple[str, ...] = ()) -> Given | None:
        """Like `give`, for a WebSocket. The other process reads again everything that the client has sent, or reads
        `messages` instead if they are given. Returns None if the connection is closed, or if the client has sent more
        than was remembered."""
        frames = [frame_of(text) for text in messages] or self._frames
        if frames is None or not self._request:
            return None
        return self.give(b"".join((self._request, *frames)), len(self._request))


class UnansweredConnection:
    """A transport for a WebSocket handshake. If the handshake succeeds, `then` is called instead of sending the answer.
    A refusal is sent as usual."""

    def __init__(self, transport: Any, then: Callable[[], None]) -> None:
        self._transport = transport
        self._then = then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        self.write = self._transport.write  # type: ignore[method-assign]
        if data.startswith(b"HTTP/1.1 101"):
            self._then()
        else:  # the handshake is refused
            self._transport.write(data)


def request_of(scope: dict[str, Any], body: bytes = b"") -> bytes:
    """The bytes of a request, as a client sends them. Its body is in one piece, even if the client sent it in
    chunks."""
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    lines = [scope["method"].encode() + b" " + scope["raw_path"] + query + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in scope["headers"] if name not in BODY_HEADERS]
    lines += [b"content-length: %d" % len(body)] if body else []
    return b"\r\n".join([*lines, b"", body])


def frame_of(text: str) -> bytes:
    """The bytes of a message, as a client sends them on a WebSocket: one frame, masked with zeros."""
    data = text.encode()
    size = len(data)
    if size < 126:
        head = bytes((0x81, 0x80 | size))
    elif size < 1 << 16:
        head = b"\x81\xfe" + size.to_bytes(2, "big")
    else:
        head = b"\x81\xff" + size.to_bytes(8, "big")
    return head + bytes(4) + data


class Connections:
    """The connections of one process. They are served by a uvicorn server that doesn't listen on a port itself, but
    gets them from the parent."""

    def __init__(self, running: uvicorn.Server) -> None:
        self._running = running
        self._http = type("Http", (GiveableHttp, running.config.http_protocol_class), {})
        self._websockets: list[Any] = []  # their transports
        self.received = 0

    @property
    def open(self) -> int:
        """How many WebSockets are open."""
        self._websockets = [one for one in self._websockets if not one.is_closing()]
        return len(self._websockets)

    async def take(self, client: socket.socket, is_websocket: bool, arrival: Arrival) -> None:
        """Serve this connection."""
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        kind: Any = GiveableSocket if is_websocket and arrival.is_handed else self._http
        try:
            transport, _ = await loop.connect_accepted_socket(lambda: self._make(kind, arrival), client)
        except OSError:  # the client is gone
            client.close()
            self.received += is_websocket
            return
        if is_websocket:
            self._websockets.append(transport)
            self.received += 1

    def _make(self, kind: Any, arrival: Arrival) -> Giveable:
        running = self._running
        made: Giveable = kind(
            config=running.config,
            server_state=running.server_state,
            app_state=running.lifespan.state,
            _loop=asyncio.get_running_loop(),
        )
        made.arrival = arrival
        return made
