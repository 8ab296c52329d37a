"""A faster way for messages between a client's WebSocket and the application: without uvicorn's queue and its tasks.

A conversation receives 50 messages a second, and each of them would otherwise wake a task. Received bytes are split
into frames here. If the application takes messages directly, a message in one frame is passed to it at once. Everything
else is passed to uvicorn unchanged and in order: control frames, fragments, invalid frames, and messages that the
application doesn't take now. All frames are counted, because the application sees neither control frames nor fragments:
a client that sends too many is disconnected. Rule: uvicorn's protocols are used through asyncio's interface only,
except for their attribute `app`.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterable
from typing import Any

from duologue.fairness.bucket import Bucket, Rate, full, take

from .limited_caller import now_ms

try:
    from websockets.speedups import apply_mask
except ImportError:  # not compiled for this platform
    from websockets.utils import apply_mask

DIRECT_KEY = "duologue.direct"  # in the scope of a WebSocket: its DirectMessages
_SIZE_MAX = 65_535  # of a frame with a short header
_TEXT, _BINARY = 0x81, 0x82
_WHOLE = (_TEXT, _BINARY, 0x88, 0x89, 0x8A)  # a frame that is a message or a control frame, without an extension
_FRAGMENTS = (0x00, 0x01, 0x02, 0x80)  # a part of a message
FLOODED_S = 1.0  # so long, what a client sends is ignored before its socket is closed
FLOODED_BYTES_MAX = 1 << 20  # so much of it is read
_TOO_MANY = struct.Struct("!BBH").pack(0x88, 2 + len(b"Too many frames."), 1008) + b"Too many frames."
_SHORT, _LONG, _LONGER = struct.Struct("!BB"), struct.Struct("!BBH"), struct.Struct("!BBQ")


class DirectMessages(asyncio.Protocol):
    """A base of a WebSocket protocol class of uvicorn. The application finds this object in the scope."""

    app: Callable[..., Any]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._take: Callable[[str | bytes], bool] | None = None
        self._size_max = 0  # of a message that is passed to `_take`
        self._has_request = False  # the HTTP request has come, so everything that follows is frames
        self._is_split = True  # False: uvicorn gets all that follows
        self._partial = b""  # the beginning of a frame
        self._rest = 0  # bytes of a long frame that are still to come: uvicorn gets them
        self._frame_budget: tuple[Rate, Bucket] | None = None
        self._admitted_rate: Rate | None = None
        self._frame_bytes_max: int | None = None
        self._note_flood: Callable[[], None] = lambda: None
        self._on_flood: Callable[[], None] | None = None
        self._is_flooded = False  # the client has sent too many frames, so nothing more is read
        self._dropped_bytes = 0  # after that
        self._transport: Any = None
        self._is_full = False  # the transport's buffer
        inner = self.app

        async def with_messages(scope: dict[str, Any], receive: Any, send: Any) -> Any:
            return await inner({**scope, DIRECT_KEY: self}, receive, send)

        self.app = with_messages

    # -- For the application

    def pass_to(
        self, take: Callable[[str | bytes], bool], size_max: int, on_flood: Callable[[], None] | None = None
    ) -> None:
        """From now on, call `take` with each message of at most `size_max` bytes. If it returns False, the message
        takes the usual way, and ASGI's `receive` returns it. If the client sends too many frames, `on_flood` is called,
        which should close the socket with the application's own close code."""
        self._take, self._size_max, self._on_flood = take, size_max, on_flood

    def limit_frames(self, unknown: Rate, admitted: Rate, bytes_max: int, note_flood: Callable[[], None]) -> None:
        """From now on, disconnect the client if it sends more frames than `unknown` allows, or begins a frame of more
        than `bytes_max` bytes; and call `note_flood`. When the client is admitted, `admitted` is its rate. Without this
        call, frames aren't limited."""
        self._frame_budget, self._note_flood = (unknown, full(unknown, now_ms())), note_flood
        self._admitted_rate, self._frame_bytes_max = admitted, bytes_max

    def admit(self) -> None:
        """From now on, the client may send as many frames as others, and only uvicorn limits their size, because the
        client has been admitted."""
        self._frame_bytes_max = None
        if self._admitted_rate is not None:
            self._frame_budget = self._admitted_rate, full(self._admitted_rate, now_ms())

    @property
    def may_write(self) -> bool:
        """Can `write` be used now? If not, use ASGI's `send`, which waits until it can send, or raises if the socket is
        closed."""
        return not self._is_full and not self._transport.is_closing()

    def write(self, messages: Iterable[str | bytes]) -> None:
        """Send these messages: texts as text frames, bytes as binary frames. The WebSocket must have been accepted, and
        must not have been closed with `send`."""
        parts = []
        for message in messages:
            kind, data = (_TEXT, message.encode()) if isinstance(message, str) else (_BINARY, message)
            size = len(data)
            if size < 126:
                parts.append(_SHORT.pack(kind, size))
            else:
                parts.append(_LONG.pack(kind, 126, size) if size <= _SIZE_MAX else _LONGER.pack(kind, 127, size))
            parts.append(data)
        self._transport.write(b"".join(parts))

    # -- As a protocol of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._take = None
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._is_full = True
        super().pause_writing()

    def resume_writing(self) -> None:
        self._is_full = False
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._is_flooded:
            self._drop(data)
            return
        if self._has_request and self._is_split:
            self._split(self._partial + data if self._partial else data)
        else:
            self._has_request = True  # uvicorn passes the request in one piece
            super().data_received(data)

    def _drop(self, data: bytes) -> None:
        self._dropped_bytes += len(data)
        if self._dropped_bytes > FLOODED_BYTES_MAX and not self._transport.is_closing():
            self._transport.pause_reading()

    def _split(self, data: bytes) -> None:
        at, end = min(self._rest, len(data)), len(data)
        if at:
            self._rest -= at
            super().data_received(data[:at])
        while end - at >= 2 and self._is_split:
            kind, size, start = data[at], data[at + 1] & 0x7F, at + 6
            if size >= 126:
                length = 2 if size == 126 else 8
                if end - at < 2 + length:
                    break
                size, start = int.from_bytes(data[at + 2 : at + 2 + length], "big"), start + length
            is_long = start - at > 8
            if (kind not in _WHOLE and kind not in _FRAGMENTS) or data[at + 1] < 0x80:
                self._is_split = False  # a wrong frame: uvicorn knows what to do
                break
            if start + size > end and not is_long:
                break
            if not self._may_send_frame(size):
                return
            if is_long or kind not in _WHOLE:
                self._take = None  # uvicorn gets this message, and so all that follow, in order
            if self._take is None or not self._is_taken(kind, data[start - 4 : start], data[start : start + size]):
                super().data_received(data[at : start + size])
            self._rest = max(0, start + size - end)
            at = min(end, start + size)
        self._partial = data[at:] if self._is_split else b""
        if not self._is_split:
            super().data_received(data[at:])

    def _may_send_frame(self, size: int) -> bool:
        """Count one frame. If it is one too many or too large, disconnect the client, and ignore what else it sends."""
        if self._frame_budget is None:
            return True
        rate, bucket = self._frame_budget
        bucket, wait_ms = take(rate, bucket, 1, now_ms())
        self._frame_budget = rate, bucket
        is_allowed = wait_ms == 0 and (self._frame_bytes_max is None or size <= self._frame_bytes_max)
        if not is_allowed:
            self._is_flooded, self._partial = True, b""
            self._note_flood()
            if self._on_flood is not None:
                self._on_flood()
            else:
                self._transport.write(_TOO_MANY)
            # Closed later: if data is unread at that moment, the client may never get the reason.
            asyncio.get_running_loop().call_later(FLOODED_S, self._transport.close)
        return is_allowed

    def _is_taken(self, kind: int, mask: bytes, masked: bytes) -> bool:
        """Pass a message to the application. Returns False if uvicorn must get it."""
        if self._take is None or kind > _BINARY or len(masked) > self._size_max or self._transport.is_closing():
            return False
        data = apply_mask(masked, mask)
        if kind == _BINARY:
            return self._take(data)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return False
        return self._take(text)
