"""The queue of events for one client's socket. Sending never waits, and a client that doesn't read is disconnected.

Rule: after `drop_sound`, no sound of that voice that still waits is sent.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from ..close_codes import CloseCode
from .fields import JsonObject

Send = Callable[[dict[str, Any]], Awaitable[None]]
RECONNECT = 1012  # close codes of RFC 6455: come back, not now, not allowed, broken
TRY_LATER = 1013
REFUSED = 1008
BROKEN = 1011
NORMAL = 1000
SLOW = CloseCode(REFUSED, "slow_reader", "The client doesn't read what the server sends.")


class EventOutbox:
    """Sends to one client."""

    def __init__(self, send: Send, unread_bytes_max: int) -> None:
        self._send = send
        self._unread_max = unread_bytes_max
        self._queue: deque[tuple[str, int]] = deque()
        self._unread = 0
        self._wake = asyncio.Event()
        self._close_code: CloseCode | None = None
        self.is_closing = False

    def send(self, event: JsonObject, voice: int = 0) -> None:
        """Queue an event. `voice` is that of the sound in it, or 0."""
        if self.is_closing:
            return
        text = json.dumps(event, ensure_ascii=False)
        self._unread += len(text)
        if self._unread > self._unread_max:
            self.disconnect(SLOW)
            return
        self._queue.append((text, voice))
        self._wake.set()

    def drop_sound(self, voice: int) -> None:
        kept = [one for one in self._queue if not voice or one[1] != voice]
        self._queue = deque(kept)
        self._unread = sum(len(text) for text, _ in kept)

    def disconnect(self, code: CloseCode) -> None:
        """Close the socket once everything that waits is sent."""
        if not self.is_closing:
            self.is_closing, self._close_code = True, code
            self._wake.set()

    async def write(self) -> None:
        """Send until the socket is closed."""
        while True:
            while self._queue:
                text, _ = self._queue.popleft()
                await self._send({"type": "websocket.send", "text": text})
                self._unread = max(0, self._unread - len(text))
            if self._close_code is not None:
                code = self._close_code
                await self._send({"type": "websocket.close", "code": code.code, "reason": code.reason})
                return
            self._wake.clear()
            await self._wake.wait()
