"""A WebSocket client with little overhead: the measuring side of a benchmark must be faster than the server.

Rule: it supports only the parts of RFC 6455 that the benchmarks need: text, binary and close frames, and pings. Its
mask is zero, so that data is sent unchanged.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from duologue.core.errors import DuologueError

_TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x81, 0x82, 0x88, 0x89, 0x8A


class LightSocket(asyncio.Protocol):
    """One connection. A subclass overrides `take` and `note_lost`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._data = b""
        self._upgraded = self._loop.create_future()
        self._is_over = False
        self.is_lost = False
        self.close_reason = ""  # the code and the reason with which the server has closed the socket

    async def open(self, url: str, path: str) -> None:
        """Connect to this server on this machine."""
        place = urlsplit(url)
        self._transport, _ = await self._loop.create_connection(lambda: self, "127.0.0.1", place.port or 80)
        self._transport.write(
            f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        await self._upgraded

    def send(self, text: str) -> None:
        self._write(_TEXT, text.encode())

    def send_sound(self, data: bytes) -> None:
        self._write(_BINARY, data)

    def take(self, content: bytes) -> None:
        """Called with the content of each text frame that arrives."""

    def take_sound(self, content: bytes) -> None:
        """Called with the content of each binary frame that arrives."""

    def note_lost(self) -> None:
        """Called when the connection is lost."""

    def close(self) -> None:
        self._is_over = True
        self._transport.close()

    def _write(self, kind: int, data: bytes) -> None:
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
        self._transport.write(bytes([kind]) + size + b"\0\0\0\0" + data)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._upgraded.done():
            _, found, rest = self._data.partition(b"\r\n\r\n")
            if not found:
                return
            self._data = rest
            self._upgraded.set_result(None)
        while len(self._data) >= 2:
            size, at = self._data[1], 2
            if size >= 126:
                at = 4 if size == 126 else 10
                size = int.from_bytes(self._data[2:at], "big")
            if len(self._data) < at + size:
                return
            kind, content, self._data = self._data[0], self._data[at : at + size], self._data[at + size :]
            if kind == _TEXT:
                self.take(content)
            elif kind == _BINARY:
                self.take_sound(content)
            elif kind == _PING:
                self._write(_PONG, content)
            elif kind == _CLOSE:
                self.close_reason = f"{int.from_bytes(content[:2], 'big')} {content[2:].decode()}"

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.is_lost = not self._is_over
        if not self._upgraded.done():
            self._upgraded.set_exception(DuologueError("the server closed a call before its WebSocket was open"))
        self.note_lost()
