"""One socket: what is to be sent waits here, and what is urgent overtakes the sound.

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

from .close_codes import SLOW_READER, CloseCode
from .server_messages import ServerMessage, message

Send = Callable[[dict[str, Any]], Awaitable[None]]
CLOSE_S_MAX = 5.0  # that a client may take to read what was said before it is left
_HEADER = struct.Struct("<BBHII")
_SOUND = 1
_URGENT = ("hold", "resume", "clear")


class _Item(NamedTuple):
    """What goes out; with a voice it is a part of that voice."""

    data: str | bytes
    voice: int = 0


class ClientOutbox:
    """A client, as far as sending to it goes. `gone` is called once, when it can't be reached any more."""

    def __init__(self, send: Send, unread_bytes_max: int, gone: Callable[[], object] = lambda: None) -> None:
        self._send = send
        self._unread_max = unread_bytes_max
        self._gone = gone
        self._queue: deque[_Item] = deque()
        self._unread = 0
        self._waiter: asyncio.Future[None] | None = None
        self._close_code: CloseCode | None = None
        self._is_closed = False

    @property
    def is_leaving(self) -> bool:
        """Whatever it says from here on is nobody's business."""
        return self._is_closed or self._close_code is not None

    # -- Saying something

    def tell(self, told: ServerMessage) -> None:
        self._put(_Item(_as_text(told)))

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        item = _Item(_as_text(message("play", action=action, voice=voice, ms=ms)), voice)
        if action in _URGENT:
            self._put(item, self._first_sound())
        else:
            self._put(item)

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        self._put(_Item(_HEADER.pack(_SOUND, 0, 0, voice, chunk) + pcm, voice))

    def drop_sound(self, voice: int) -> None:
        kept = [item for item in self._queue if not voice or item.voice != voice]
        self._queue = deque(kept)
        self._unread = sum(len(item.data) for item in kept)

    def leave(self, close_code: CloseCode) -> None:
        """Close the socket once everything before this has been sent, but for sound."""
        if self.is_leaving:
            return
        self._queue = deque(item for item in self._queue if not item.voice)
        self._unread = sum(len(item.data) for item in self._queue)
        self.tell(message("error", code=close_code.name, message=close_code.reason))
        self._part(close_code)

    def close(self) -> None:
        """The socket is gone."""
        self._is_closed = True
        self._queue.clear()
        self._wake()

    def _part(self, close_code: CloseCode) -> None:
        if self._close_code is None:
            self._close_code = close_code
            self._wake()
            self._gone()

    def _put(self, item: _Item, at: int | None = None) -> None:
        if self.is_leaving:
            return
        self._queue.insert(len(self._queue) if at is None else at, item)
        self._unread += len(item.data)
        if self._unread > self._unread_max:
            self._queue.clear()
            self._part(SLOW_READER)
        self._wake()

    def _first_sound(self) -> int:
        """Before it nothing waits but what was told earlier and is short."""
        return next((at for at, item in enumerate(self._queue) if isinstance(item.data, bytes)), len(self._queue))

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- Sending it

    async def write(self) -> None:
        """Until the socket is closed, by either side."""
        try:
            while not self._is_closed:
                if self._queue:
                    await self._send(self._next())
                elif self._close_code is not None:
                    code, _, reason = self._close_code
                    await self._send({"type": "websocket.close", "code": code, "reason": reason})
                    self._is_closed = True
                else:
                    self._waiter = asyncio.get_running_loop().create_future()
                    await self._waiter
                    self._waiter = None
        except (OSError, RuntimeError):  # it left without a word, or the socket was closed below us
            self.close()

    def _next(self) -> dict[str, Any]:
        item = self._queue.popleft()
        self._unread -= len(item.data)
        kind = "bytes" if isinstance(item.data, bytes) else "text"
        return {"type": "websocket.send", kind: item.data}


def _as_text(told: ServerMessage) -> str:
    """Half a character, which a service may send, is no reason to fall silent."""
    text = json.dumps(told, separators=(",", ":"), ensure_ascii=False)
    return text.encode(errors="replace").decode()
