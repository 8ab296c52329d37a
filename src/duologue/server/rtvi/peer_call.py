"""A conversation with an RTVI client over WebRTC: messages on the data channel, sound on the audio track.

The client may replace its peer connection while the conversation goes on. Rule: this class transports messages and
sound and applies the limits. It decides nothing about the protocol.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duologue.lines.browser import BrowserLine
from duologue.lines.webrtc.packet_player import PacketPlayer
from duologue.lines.webrtc.path import PathPlace
from duologue.ports.context import Context

from ..close_codes import CloseCode
from ..conversations import Conversations
from ..limited_caller import now_ms
from ..message_limits import MessageLimits
from ..protocols.closes import BAD, SLOW, TOO_FAST
from ..settings import ServerSettings
from .call import RtviCall
from .frame_outbox import message_text
from .incoming import JsonObject, read_message
from .refusal import MessageRefused
from .socket import NOT_READY

if TYPE_CHECKING:
    from duologue.lines.webrtc.peer import Peer
    from duologue.runtime.agent import Agent

LOG = logging.getLogger("duologue.rtvi")
HEARD_HZ = 16_000
LAST_S = 0.3  # how long the client gets for the last messages before the connection is closed
LEFT = json.dumps({"type": "signalling", "message": {"type": "peerLeft"}})


class RtviPeerCall:
    """One client that is connected over WebRTC. `on_over` is called when its conversation is over."""

    def __init__(
        self,
        agent: Agent,
        context: Context[Any],
        conversations: Conversations,
        settings: ServerSettings,
        address: str,
        on_over: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._on_over: Callable[[], None] | None = on_over
        self.delay_ms = 0  # of the network, set by the connection
        self._line = BrowserLine(HEARD_HZ)
        self._player = PacketPlayer(self._line, now_ms, lambda report: None)  # noqa: ARG005
        self.call = RtviCall(agent, context, conversations, settings, self._line, self, address=address)
        self._peer: Peer | None = None
        self._channel: Any = None
        self._limits = MessageLimits(settings.limits, conversations.note_refused)
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_later(settings.limits.hello_s_max, self._check_ready)

    def _check_ready(self) -> None:
        if not self.call.state.ready_id:
            self.call.disconnect(NOT_READY)

    async def use(self, peer: Peer, sdp: str) -> str:
        """Answer an SDP offer with this peer connection, which replaces the client's former connection. Returns the SDP
        answer. Raises OfferRefused."""
        answer = await peer.answer(sdp)
        former, self._peer, self._channel = self._peer, peer, None
        if former is not None:
            self._line.detach(self._player)
            self._player.leave()
            await former.close()
        return answer

    async def end(self, reason: str) -> None:
        """End the conversation, because the client has disconnected or the server is stopping."""
        on_over, self._on_over = self._on_over, None
        if on_over is None:
            return
        self._alarm.cancel()
        on_over()
        self._player.leave()
        if self._peer is not None:
            await self._peer.close()
        await self.call.end(reason)

    # -- The carrier of the call

    def send_message(self, message: JsonObject) -> None:
        self._send(message_text(message))

    def drop_sound(self) -> None:
        """Do nothing: the player has stopped already, and the client plays at most the packets that are on their
        way."""

    def disconnect(self, code: CloseCode) -> None:
        LOG.info("a client over WebRTC is disconnected: %s", code.name)
        self._send(LEFT)
        loop = asyncio.get_running_loop()
        loop.call_later(LAST_S, lambda: loop.create_task(self.end("hung up"), name="rtvi end"))

    def _send(self, text: str) -> None:
        channel = self._channel
        if channel is None or channel.readyState != "open":
            return
        if channel.bufferedAmount + len(text) > self._settings.limits.unread_bytes_max:
            self._channel = None
            self.disconnect(SLOW)
            return
        channel.send(text)

    # -- What the connection plays

    def take(self, stamp: int) -> bytes:
        return self._player.take(stamp)

    def look(self, quiet_ms: int = 0) -> None:
        self._player.delay_ms = self.delay_ms
        self._player.look(quiet_ms)

    # -- What the connection tells

    def hear(self, pcm: bytes, ms: int) -> None:
        if self.call.take_sound(ms):
            self._line.hear(pcm)

    def move_to(self, place: PathPlace) -> None:
        if place is PathPlace.LOST:
            asyncio.get_running_loop().create_task(self.end("the connection is lost"), name="rtvi lost")
        elif place is PathPlace.UP:
            self._line.attach(self._player)
        elif place is PathPlace.QUIET:
            self._line.detach(self._player)
            self._player.leave()

    def open_channel(self, channel: Any) -> None:
        self._channel = channel
        channel.on("message", lambda text: self._take(channel, text))

    def _take(self, channel: Any, text: str | bytes) -> None:
        """Process a message from the data channel. Keepalives and messages about the tracks are ignored."""
        if channel is not self._channel or (isinstance(text, str) and text.startswith("ping")):
            return
        if self._limits.is_too_fast(text):
            self.call.disconnect(TOO_FAST)
            return
        try:
            if isinstance(text, bytes):
                raise MessageRefused("Messages on the data channel must be text.")
            if not _is_signalling(text):
                self.call.post(read_message(text))
        except MessageRefused as why:
            self.call.post(why)
            if self._limits.is_too_bad():
                self.call.disconnect(BAD)


def _is_signalling(text: str) -> bool:
    """Is this a message from the client's WebRTC transport about its tracks, and not a message of the RTVI protocol?"""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(given, dict) and given.get("type") == "signalling"
