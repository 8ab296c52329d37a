"""Connections that a server process gets from its parent, and can give to another process.

A process may find out only from a client's hello that another process has its conversation. By then the WebSocket is
open. So the process remembers what it has read, and the other process reads all of it again. It reads the request
first, but its answer is dropped, because the client has got an answer already. Then it reads the messages. Rule:
uvicorn's protocols are used through asyncio's interface only, except for their attribute `app`.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from ..siblings import SCOPE_KEY

READ_BYTES_MAX = 100_000  # a client that sent more before its hello was answered stays where it is


class Given(NamedTuple):
    """A connection on its way to another process: a file descriptor, and what was read from it."""

    descriptor: int
    data: bytes
    request_bytes: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a connection came to this process. With `data`, another process had it before."""

    data: bytes = b""
    request_bytes: int = 0
    seat: str = ""  # counted for this process by the parent
    is_greeted: bool = False

    @property
    def is_handed(self) -> bool:
        return bool(self.data)


class Giveable(asyncio.Protocol):
    """The part that both protocols share: it adds the connection to the scope of each of its requests."""

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
        """Take the connection away from this process. Nothing is sent to the client. Returns None if the connection is
        closed."""
        if self._wire is None or self._wire.is_closing():
            return None
        given = Given(os.dup(self._wire.get_extra_info("socket").fileno()), data, request_bytes)
        self._wire.abort()
        return given


class GiveableHttp(Giveable):
    """A connection with plain requests. It is combined with the protocol that uvicorn has chosen."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self.arrival.is_handed:
            self.data_received(self.arrival.data)

    def give_request(self, scope: dict[str, Any]) -> Given | None:
        """Like `give`, with this request, which has no body and no answer yet."""
        request = request_of(scope)
        return self.give(request, len(request))


class GiveableSocket(Giveable, WebSocketsSansIOProtocol):
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
        """The connection stays here: what it reads needn't be remembered."""
        self._frames = None

    def give_socket(self, messages: tuple[str, ...] = ()) -> Given | None:
        """Like `give`, with all that the client sent, or with these messages instead. Returns None if the client sent
        too much."""
        frames = [frame_of(text) for text in messages] or self._frames
        if frames is None or not self._request:
            return None
        return self.give(b"".join((self._request, *frames)), len(self._request))


class UnansweredConnection:
    """A transport that drops the answer to a handshake, and then calls `then`."""

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


def request_of(scope: dict[str, Any]) -> bytes:
    """A request without a body, as a client sends it."""
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    lines = [scope["method"].encode() + b" " + scope["raw_path"] + query + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in scope["headers"]]
    return b"\r\n".join([*lines, b"", b""])


def frame_of(text: str) -> bytes:
    """A message as a client sends it on a WebSocket: one frame, masked with zeros."""
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
    """The connections of one process, served by a uvicorn server that listens on no socket itself."""

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
