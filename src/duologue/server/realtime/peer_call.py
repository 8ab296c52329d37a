"""A call over WebRTC: events on the data channel `oai-events`, sound on the audio track.

`PeerCall` has the same interface as a WebSocket, so that the same code for admission, limits and translation works for
both. Rule: this class transports events and sound, and decides nothing about the protocol.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duologue.lines.browser import BrowserLine
from duologue.lines.webrtc.path import PathPlace

from . import facts as fa
from .call import RealtimeCall
from .track_player import TrackPlayer

if TYPE_CHECKING:
    from duologue.lines.webrtc.peer import Peer

LOG = logging.getLogger("duologue.realtime")
CHANNEL = "oai-events"
BEGIN = "duologue.begin"  # the conversation begins although the client has sent nothing
CONFIGURE_S = 0.3  # how long a client may take to configure the session, from opening its channel on
CHANNEL_S = 3.0  # a client without a channel is only heard and spoken to
EVENTS_MAX = 1_000  # that wait to be read
UNSENT_BYTES_MAX = 1 << 16
_UNSENT_S = 0.02
DISCONNECT = {"type": "websocket.disconnect"}


class PeerCall:
    """Transports the events and the sound of one call."""

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self.delay_ms = 0
        self.peer: Peer | None = None
        self._player: TrackPlayer | None = None
        self._call: RealtimeCall | None = None
        self._channel: Any = None
        self._is_opened = asyncio.Event()
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue(EVENTS_MAX)
        self._alarm: asyncio.TimerHandle | None = None
        self._is_up = False

    # -- As a socket

    async def receive(self) -> dict[str, Any]:
        return await self._events.get()

    async def send(self, message: dict[str, Any]) -> None:
        """Send an event, or hang up if the message is a close. Waits while the client doesn't read."""
        if message["type"] == "websocket.close":
            self.hang_up()
            return
        await self._is_opened.wait()
        channel = self._channel
        while channel is not None and channel.readyState == "open" and channel.bufferedAmount > UNSENT_BYTES_MAX:
            await asyncio.sleep(_UNSENT_S)
        if channel is not None and channel.readyState == "open":
            channel.send(message["text"])

    def hang_up(self) -> None:
        self._put(DISCONNECT)

    async def close(self) -> None:
        self._cancel_alarm()
        if self.peer is not None:
            await self.peer.close()

    def _put(self, event: dict[str, Any]) -> None:
        if self._events.full():
            LOG.warning("a client sends events faster than they are read")
            self._events.get_nowait()
            event = DISCONNECT
        self._events.put_nowait(event)

    # -- The call

    def make_player(
        self,
        line: BrowserLine,
        on_sound: Callable[[int, bytes], None],
        on_complete: Callable[[int], None],
        on_cut: Callable[[int], None],  # noqa: ARG002 - events contain no sound
    ) -> TrackPlayer:
        self._player = TrackPlayer(line, on_sound, on_complete, self._note_end)
        return self._player

    def join(self, call: RealtimeCall) -> None:
        """Set the call whose events and sound are transported. The call begins when the client is connected."""
        self._call = call

    def _note_end(self, voice: int, is_cut: bool) -> None:
        if self._call is not None:
            self._call.post(fa.TrackEnded(voice, is_cut))

    # -- What the connection plays

    def take(self, stamp: int) -> bytes:
        return self._player.packets.take(stamp) if self._player is not None else b""

    def look(self, quiet_ms: int = 0) -> None:
        if self._player is not None:
            self._player.packets.delay_ms = self.delay_ms
            self._player.packets.look(quiet_ms)

    # -- What the connection tells

    def hear(self, pcm: bytes, ms: int) -> None:
        if self._call is not None:
            self._call.hear_track(pcm, ms)

    def move_to(self, place: PathPlace) -> None:
        if place is PathPlace.LOST:
            self.hang_up()
        elif place is PathPlace.UP and not self._is_up:
            self._is_up = True
            self._set_alarm(CHANNEL_S, self._go_without_channel)
        elif self._call is not None and self._player is not None:
            self._move(self._call.line, self._player, place)

    def _move(self, line: BrowserLine, player: TrackPlayer, place: PathPlace) -> None:
        """Stop sending while nothing comes over the network path. When the path works again, continue after the last
        sound that the client heard."""
        if place is PathPlace.QUIET:
            line.detach(player)
            player.packets.leave()
        elif place is PathPlace.UP:
            line.attach(player)

    def open_channel(self, channel: Any) -> None:
        if channel.label != CHANNEL or self._channel is not None:
            LOG.info("a data channel of another name is ignored")
            return
        self._channel = channel
        channel.on("message", lambda text: self._put({"type": "websocket.receive", _kind(text): text}))
        channel.on("close", self.hang_up)
        self._is_opened.set()
        self._set_alarm(CONFIGURE_S, self._begin)

    def _go_without_channel(self) -> None:
        self._is_opened.set()
        self._begin()

    def _begin(self) -> None:
        self._put({"type": BEGIN})

    def _set_alarm(self, s: float, do: Callable[[], None]) -> None:
        self._cancel_alarm()
        self._alarm = asyncio.get_running_loop().call_later(s, do)

    def _cancel_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()


def _kind(text: str | bytes) -> str:
    return "text" if isinstance(text, str) else "bytes"
