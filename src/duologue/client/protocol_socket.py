"""One WebSocket to a server of agents. Messages and sound are sent and received as values, in order.

The socket makes no decisions: it sends no hello by itself, doesn't reconnect and plays nothing. Rule: sending to a
closed socket does nothing and returns False.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from .failures import ClientFailed, ConnectionFailed
from .messages import ServerSaid, VoiceChunk, read, written

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

OPEN_S_MAX = 10.0
CLOSE_S_MAX = 1.0
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class ProtocolSocket:
    """An open socket. Iterate over it to get the messages and the sound from the server. The iteration ends when the
    socket is closed."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, url: str, open_s_max: float = OPEN_S_MAX, **options: Any) -> ProtocolSocket:
        """Connect to the server at this address, such as http://127.0.0.1:8765/. `options` are passed to
        `websockets.connect`. Raises ConnectionFailed if the server can't be reached."""
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import WebSocketException
        except ModuleNotFoundError:
            raise ClientFailed("a client needs the package websockets: pip install 'duologue[client]'") from None
        given = {"compression": None, "max_size": 1 << 24, "ping_interval": None, "proxy": None, **options}
        try:
            async with asyncio.timeout(open_s_max):
                return cls(await connect(socket_url(url), open_timeout=None, **given))
        except (OSError, TimeoutError, WebSocketException) as problem:
            why = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
            raise ConnectionFailed(f"no connection to {url}: {why}") from problem

    async def send(self, kind: str, **payload: Any) -> bool:
        """Send one message. Returns False if the socket is closed."""
        return await self.send_raw(written(kind, payload))

    async def send_raw(self, data: str | bytes) -> bool:
        """Send a frame unchanged: sound, or data that isn't a message of the protocol. Returns False if the socket is
        closed."""
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(data)
        except (ConnectionClosed, OSError):
            return False
        return True

    async def __aiter__(self) -> AsyncIterator[ServerSaid | VoiceChunk]:
        from websockets.exceptions import ConnectionClosed

        try:
            async for frame in self._connection:
                yield read(frame)
        except (ConnectionClosed, OSError):
            return

    @property
    def close_code(self) -> int:
        """The code with which the socket was closed. It is 1006 if the other side sent no close frame, and 0 while the
        socket is open."""
        return self._connection.close_code or 0

    @property
    def close_reason(self) -> str:
        return self._connection.close_reason or ""

    async def close(self) -> None:
        """Close the socket when everything is sent. A server that doesn't answer the close frame is waited for
        CLOSE_S_MAX seconds."""
        try:
            async with asyncio.timeout(CLOSE_S_MAX):
                await self._connection.close()
        except TimeoutError:
            self.abort()

    def abort(self) -> None:
        """End the connection immediately, without a close frame."""
        self._connection.transport.abort()


def socket_url(url: str) -> str:
    """The WebSocket address of the server at `url`. Raises ClientFailed if `url` isn't the address of a server."""
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not parts.netloc:
        raise ClientFailed(f"{url!r} is not the address of a server: it must be like http://127.0.0.1:8765/")
    path = parts.path if parts.path.endswith("/ws") else f"{parts.path.rstrip('/')}/ws"
    return urlunsplit((_SCHEMES[parts.scheme], parts.netloc, path, parts.query, ""))
