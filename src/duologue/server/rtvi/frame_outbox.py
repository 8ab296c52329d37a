"""The queue of frames for one client's WebSocket. Sending never waits, and a client that doesn't read is disconnected.

Rule: after `drop_sound`, no sound that still waits is sent.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from duologue.lines.playback.state import OUTPUT_HZ

from ..close_codes import CloseCode
from .frames import audio_frame, interruption_frame, message_frame
from .incoming import LABEL, JsonObject

LOG = logging.getLogger("duologue.rtvi")
Send = Callable[[dict[str, Any]], Awaitable[None]]
SLOW = CloseCode(1008, "slow_reader", "The client doesn't read what the server sends.")


class QueuedFrame(NamedTuple):
    data: bytes
    is_sound: bool = False


class FrameOutbox:
    """Sends to one client. It is the carrier of its messages."""

    def __init__(self, send: Send, unread_bytes_max: int) -> None:
        self._send = send
        self._unread_max = unread_bytes_max
        self._queue: deque[QueuedFrame] = deque()
        self._unread = 0
        self._wake = asyncio.Event()
        self._close_code: CloseCode | None = None

    @property
    def is_closing(self) -> bool:
        return self._close_code is not None

    def send_message(self, message: JsonObject) -> None:
        self._add(QueuedFrame(message_frame(message_text(message))))

    def send_sound(self, pcm: bytes) -> None:
        """Queue sound at 24 kHz."""
        self._add(QueuedFrame(audio_frame(pcm, OUTPUT_HZ), is_sound=True))

    def drop_sound(self) -> None:
        kept = [one for one in self._queue if not one.is_sound]
        self._queue = deque(kept)
        self._unread = sum(len(one.data) for one in kept)
        self._add(QueuedFrame(interruption_frame()))

    def disconnect(self, code: CloseCode) -> None:
        if self._close_code is None:
            self._close_code = code
            self._wake.set()

    def _add(self, frame: QueuedFrame) -> None:
        if self.is_closing:
            return
        self._unread += len(frame.data)
        if self._unread > self._unread_max:
            self.disconnect(SLOW)
            return
        self._queue.append(frame)
        self._wake.set()

    async def write(self) -> None:
        """Send until the socket is closed."""
        while True:
            while self._queue:
                frame = self._queue.popleft()
                await self._send({"type": "websocket.send", "bytes": frame.data})
                self._unread = max(0, self._unread - len(frame.data))
            if self._close_code is not None:
                code = self._close_code
                await self._send({"type": "websocket.close", "code": code.code, "reason": code.reason})
                return
            self._wake.clear()
            await self._wake.wait()


def message_text(message: JsonObject) -> str:
    """A message as JSON. One that JSON can't hold becomes an error."""
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        LOG.error("a message isn't sent: its data can't be written as JSON")
        return json.dumps(_unwritable(message))


def _unwritable(message: JsonObject) -> JsonObject:
    """What is sent instead of a message of the agent's program that JSON can't hold."""
    error = "The agent has sent something that can't be written as JSON."
    kind = "error-response" if message["type"] == "server-response" else "error"
    return {"label": LABEL, "type": kind, "id": message["id"], "data": {"error": error, "fatal": False}}
