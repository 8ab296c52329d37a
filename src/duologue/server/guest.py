"""One socket: what is to be sent waits here, and what is urgent goes first.

Sending never waits, so a slow client slows nobody down; one that does not read at all is sent away. Rule: after
`drop_sound` nothing of that voice leaves, however much was queued.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from .closing import SLOW_READER, Goodbye
from .telling import Message, message

Send = Callable[[dict[str, Any]], Awaitable[None]]
_HEADER = struct.Struct("<BBHII")
_SOUND = 1
_URGENT = ("hold", "resume", "clear")


class _Sound(NamedTuple):
    voice: int
    frame: bytes


class Guest:
    """A client, as far as sending to it goes."""

    def __init__(self, send: Send, unread_bytes_max: int) -> None:
        self._send = send
        self._unread_max = unread_bytes_max
        self._urgent: deque[str] = deque()
        self._queue: deque[str | _Sound] = deque()
        self._unread = 0
        self._waiter: asyncio.Future[None] | None = None
        self._goodbye: Goodbye | None = None
        self._is_closed = False

    # -- Saying something

    def tell(self, told: Message) -> None:
        self._put(json.dumps(told, separators=(",", ":"), ensure_ascii=False))

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        text = json.dumps(message("play", action=action, voice=voice, ms=ms), separators=(",", ":"))
        if action in _URGENT:
            self._urgent.append(text)
            self._wake()
        else:
            self._put(text)

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        self._put(_Sound(voice, _HEADER.pack(_SOUND, 0, 0, voice, chunk) + pcm))

    def drop_sound(self, voice: int) -> None:
        kept = [item for item in self._queue if not (type(item) is _Sound and item.voice == voice)]
        self._queue = deque(kept)
        self._unread = sum(map(_size, kept))

    def leave(self, goodbye: Goodbye) -> None:
        """Close the socket once everything before this has been sent."""
        if self._goodbye is None:
            self.tell(message("error", code=goodbye.name, message=goodbye.reason))
            self._goodbye = goodbye
            self._wake()

    def close(self) -> None:
        """The socket is gone."""
        self._is_closed = True
        self._wake()

    def _put(self, item: str | _Sound) -> None:
        if self._is_closed or self._goodbye is not None:
            return
        self._queue.append(item)
        self._unread += _size(item)
        if self._unread > self._unread_max:
            self._queue.clear()
            self._goodbye = SLOW_READER
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- Sending it

    async def write(self) -> None:
        """Until the socket is closed, by either side."""
        while not self._is_closed:
            if self._urgent:
                await self._send({"type": "websocket.send", "text": self._urgent.popleft()})
            elif self._queue:
                item = self._queue.popleft()
                self._unread -= _size(item)
                if type(item) is _Sound:
                    await self._send({"type": "websocket.send", "bytes": item.frame})
                else:
                    await self._send({"type": "websocket.send", "text": item})
            elif self._goodbye is not None:
                await self._send(
                    {"type": "websocket.close", "code": self._goodbye.code, "reason": self._goodbye.reason}
                )
                self._is_closed = True
            else:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
                self._waiter = None


def _size(item: str | _Sound) -> int:
    return len(item.frame) if type(item) is _Sound else len(item)
