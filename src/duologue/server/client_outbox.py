"""The queue of messages and sound for one client's socket. The playback commands hold, resume and clear overtake queued
sound.

Sending never waits, so a slow client doesn't delay a conversation. A client that doesn't read at all is disconnected.
Sound is queued as PCM, and is encoded only when it is sent: sound that is dropped from the queue was never encoded.
Rule: after `drop_sound`, nothing that was queued for that voice (the sound of one utterance) is sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple, Protocol

from .close_codes import SLOW_READER, CloseCode
from .server_messages import ServerMessage, message
from .voice_frames import AMBIENT, AS_PCM, CUE, HEADER, VOICE, PcmFrames, VoiceFrames

Send = Callable[[dict[str, Any]], Awaitable[None]]
CLOSE_S_MAX = 5.0  # how long a client may take to read what was queued before its socket is closed
REST_S = 0.04  # when a voice has no more sound for now, its last samples wait this long for more
_URGENT = ("hold", "resume", "clear")


class _Item(NamedTuple):
    """One item of the queue: a frame to send, or sound from which a frame will be made. For sound, `kind` is VOICE or
    CUE, and `number` is the number of the chunk or of the cue. `voice` is the number of the agent's utterance that the
    item is about; 0 if it isn't about one. If the item `ends` an utterance, the last samples of that utterance are sent
    before the item."""

    data: str | bytes
    voice: int = 0
    kind: int = 0
    number: int = 0
    ends: bool = False


class DirectWire(Protocol):
    """A socket to which several frames can be written at once, without waiting."""

    @property
    def may_write(self) -> bool:
        """Can frames be written now? If not, the ASGI function `send` must be used, which waits or raises."""
        ...

    def write(self, messages: Iterable[str | bytes]) -> None: ...


class ClientOutbox:
    """Sends messages and sound to one client. `on_closing` is called when the server begins to disconnect the
    client."""

    def __init__(
        self,
        send: Send,
        unread_bytes_max: int,
        on_closing: Callable[[], object] = lambda: None,
        direct: DirectWire | None = None,
    ) -> None:
        self._send = send
        self._direct = direct
        self._unread_max = unread_bytes_max
        self._on_closing = on_closing
        self._queue: list[_Item] = []  # short: a client that reads slowly is disconnected
        self._unread = 0
        self._waiter: asyncio.Future[None] | None = None
        self._close_code: CloseCode | None = None
        self._is_closed = False
        self._frames: VoiceFrames = PcmFrames()
        self._completing: asyncio.TimerHandle | None = None
        self._note_sound: Callable[[int, int], None] = lambda frame_bytes, pcm_bytes: None  # noqa: ARG005

    def use(self, frames: VoiceFrames, note_sound: Callable[[int, int], None]) -> None:
        """From now on, encode sound with `frames`. For each frame that is sent, `note_sound` is called with the frame's
        size in bytes and the size of its PCM."""
        self._frames = frames
        self._note_sound = note_sound

    @property
    def is_closing(self) -> bool:
        """Is the socket closed or closing? If so, everything that the client sends is ignored."""
        return self._is_closed or self._close_code is not None

    @property
    def unread_bytes(self) -> int:
        """How many bytes are queued and not sent yet."""
        return self._unread

    # -- Queueing

    def send_message(self, outgoing: ServerMessage) -> None:
        """Queue a message of the protocol."""
        self._put(_Item(_as_text(outgoing)))

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        """Queue a playback command. The commands hold, resume and clear are sent before sound that is already
        queued."""
        text = _as_text(message("play", action=action, voice=voice, ms=ms))
        item = _Item(text, voice, ends=action == "finish")
        if action in _URGENT:
            self._put(item, self._first_sound())
        else:
            self._put(item)

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        """Queue a chunk of sound as a binary frame."""
        self._stop_completing()
        self._put(_Item(pcm, voice, VOICE, chunk))

    def complete_soon(self, voice: int) -> None:
        """Record that this utterance of the agent has no more sound for now. If no more sound is queued soon, send the
        last samples of its newest chunk, which the encoder still holds."""
        if self._frames.is_late and self._completing is None and not self.is_closing:
            rest = _Item("", voice, ends=True)
            self._completing = asyncio.get_running_loop().call_later(REST_S, self._complete, rest)

    def _complete(self, rest: _Item) -> None:
        self._completing = None
        self._put(rest)

    def _stop_completing(self) -> None:
        if self._completing is not None:
            self._completing.cancel()
            self._completing = None

    def drop_sound(self, voice: int) -> None:
        """Remove everything about this utterance of the agent from the queue. Does nothing if `voice` is 0, which means
        no utterance."""
        self._keep(lambda item: not voice or item.voice != voice)

    def send_cue(self, cue: int, pcm: bytes) -> None:
        """Queue the sound of a cue (a short signal tone) as a binary frame."""
        self._put(_Item(pcm, kind=CUE, number=cue))

    def stop_cue(self) -> None:
        """Remove all cue sound from the queue, and queue a command that stops the cue that is playing. The command is
        sent before sound that is already queued."""
        self._keep(lambda item: item.kind != CUE)
        self._put(_Item(_as_text(message("cue", action="stop"))), self._first_sound())

    def send_ambient(self, pcm: bytes) -> None:
        """Queue a background sound as a binary frame. The client plays it again and again."""
        self._put(_Item(HEADER.pack(AMBIENT, AS_PCM, 0, 0, 0) + pcm))

    def disconnect(self, close_code: CloseCode) -> None:
        """Send all queued messages and then the reason, and close the socket with this close code. Queued sound and
        playback commands are dropped."""
        if self.is_closing:
            return
        self._keep(lambda item: not item.voice and isinstance(item.data, str))
        self.send_message(message("error", code=close_code.name, message=close_code.reason))
        self._begin_closing(close_code)

    def close(self) -> None:
        """Record that the socket is closed: clear the queue, and let `write` end."""
        self._is_closed = True
        self._queue.clear()
        self._stop_completing()
        self._wake()

    def _keep(self, is_kept: Callable[[_Item], bool]) -> None:
        """Keep only the queued items for which `is_kept` returns True, and remove the others."""
        self._queue = [item for item in self._queue if is_kept(item)]
        self._unread = sum(len(item.data) for item in self._queue)

    def _begin_closing(self, close_code: CloseCode) -> None:
        if self._close_code is None:
            self._close_code = close_code
            self._wake()
            self._on_closing()

    def _put(self, item: _Item, at: int | None = None) -> None:
        if self.is_closing:
            return
        if self._direct is not None and not self._queue and self._is_waiting and self._direct.may_write:
            try:  # a task that sends it later would delay a command to hold
                self._direct.write(self._frames_of(item))
            except (OSError, RuntimeError):  # as in `write`
                self.close()
            return
        self._queue.insert(len(self._queue) if at is None else at, item)
        self._unread += len(item.data)
        if self._unread > self._unread_max:
            self._queue.clear()
            self._unread = 0
            self._begin_closing(SLOW_READER)
        self._wake()

    def _first_sound(self) -> int:
        """The index of the first queued sound, or the length of the queue if no sound is queued. Everything before the
        first sound is a message, and messages are short."""
        return next((at for at, item in enumerate(self._queue) if isinstance(item.data, bytes)), len(self._queue))

    @property
    def _is_waiting(self) -> bool:
        """Is `write` waiting until something is queued?"""
        return self._waiter is not None and not self._waiter.done()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- Sending

    async def write(self) -> None:
        """Send what is queued, until the socket is closed by either side."""
        try:
            while not self._is_closed:
                if self._queue:
                    await self._send_queued()
                elif self._close_code is not None:
                    code, _, reason = self._close_code
                    await self._send({"type": "websocket.close", "code": code, "reason": reason})
                    self._is_closed = True
                else:
                    self._waiter = asyncio.get_running_loop().create_future()
                    await self._waiter
                    self._waiter = None
        except (OSError, RuntimeError):  # the client vanished, or the socket was closed by a lower layer
            self.close()

    async def _send_queued(self) -> None:
        """Send everything that is queued, if the socket can take it without waiting. Otherwise send only the first
        frame."""
        if self._direct is not None and self._direct.may_write:
            items, self._queue, self._unread = self._queue, [], 0
            self._direct.write([frame for item in items for frame in self._frames_of(item)])
            return
        item = self._queue[0]
        frame: str | bytes | None = self._rest_before(item)
        if frame is None:  # otherwise the item stays in the queue, from which it may still be dropped
            self._queue.pop(0)
            self._unread -= len(item.data)
            frame = self._frame(item)
        if frame is not None:
            await self._send({"type": "websocket.send", "text" if isinstance(frame, str) else "bytes": frame})

    def _frames_of(self, item: _Item) -> Iterable[str | bytes]:
        """The frames to send for an item of the queue."""
        return [frame for frame in (self._rest_before(item), self._frame(item)) if frame is not None]

    def _rest_before(self, item: _Item) -> bytes | None:
        """A frame with the last samples of the utterance that this item ends. None if the item ends no utterance, or if
        these samples were sent before."""
        rest = self._frames.rest(item.voice) if item.ends else None
        if rest is not None:
            self._note_sound(len(rest), 0)
        return rest

    def _frame(self, item: _Item) -> str | bytes | None:
        """The frame for this item; None if the item only marks the end of an utterance."""
        data = item.data
        if isinstance(data, str):
            return data or None
        if not item.kind:
            return data
        is_cue = item.kind == CUE
        frame = self._frames.cue(item.number, data) if is_cue else self._frames.chunk(item.voice, item.number, data)
        self._note_sound(len(frame), len(data))
        return frame


def _as_text(outgoing: ServerMessage) -> str:
    """The message as JSON. Lone surrogates, which a service may send, are replaced, because UTF-8 can't encode them."""
    text = json.dumps(outgoing, separators=(",", ":"), ensure_ascii=False)
    return text if text.isascii() else text.encode(errors="replace").decode()
