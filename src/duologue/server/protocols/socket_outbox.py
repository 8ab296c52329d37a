"""The queue of frames for one client. Sending never waits, and a client that doesn't read is disconnected.

Rule: a frame that was dropped from the queue is never sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple

from ..close_codes import CloseCode
from .closes import SLOW

LOG = logging.getLogger("duologue.server")
Send = Callable[[dict[str, Any]], Awaitable[None]]
CLOSE_S_MAX = 5.0


class QueuedPiece(NamedTuple):
    data: str | bytes
    voice: int  # that of the sound in it, or 0


class SocketOutbox:
    """Sends text and binary frames to one client."""

    def __init__(self, send: Send, unread_bytes_max: int) -> None:
        self._send = send
        self._unread_max = unread_bytes_max
        self._queue: deque[QueuedPiece] = deque()
        self._unread = 0
        self._wake = asyncio.Event()
        self._close_code: CloseCode | None = None

    @property
    def is_closing(self) -> bool:
        return self._close_code is not None

    def add(self, data: str | bytes, voice: int = 0) -> None:
        """Queue a frame. If the frame contains sound, `voice` is the number of the reply's sound to which it belongs;
        otherwise 0."""
        if self.is_closing:
            return
        self._unread += len(data)
        if self._unread > self._unread_max:
            self.disconnect(SLOW)
            return
        self._queue.append(QueuedPiece(data, voice))
        self._wake.set()

    def drop(self, voice: int) -> None:
        """Drop all queued sound with this `voice` (the number of the sound of one reply). Does nothing if `voice` is
        0."""
        self._queue = deque(one for one in self._queue if not voice or one.voice != voice)
        self._unread = sum(len(one.data) for one in self._queue)

    def disconnect(self, code: CloseCode) -> None:
        """Close the socket as soon as everything in the queue was sent."""
        if self._close_code is None:
            self._close_code = code
            self._wake.set()

    async def write(self) -> None:
        """Send the queued frames until the socket is closed."""
        while True:
            while self._queue:
                data, _ = self._queue.popleft()
                await self._send({"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data})
                self._unread = max(0, self._unread - len(data))
            if self._close_code is not None:
                code = self._close_code
                await self._send({"type": "websocket.close", "code": code.code, "reason": code.reason})
                return
            self._wake.clear()
            await self._wake.wait()

    async def write_while(self, reading_work: Coroutine[Any, Any, None]) -> None:
        """Send queued frames while `reading_work` runs, until either side closes the socket. A client that doesn't read
        delays the close by at most CLOSE_S_MAX seconds."""
        loop = asyncio.get_running_loop()
        writing = loop.create_task(self.write(), name="client writing")
        reading = loop.create_task(reading_work, name="client reading")
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            if self.is_closing:
                await asyncio.wait({writing}, timeout=CLOSE_S_MAX)
        finally:
            reading.cancel()
            writing.cancel()
            for failure in await asyncio.gather(reading, writing, return_exceptions=True):
                if isinstance(failure, Exception):
                    LOG.error("a socket failed: %s", type(failure).__name__)
