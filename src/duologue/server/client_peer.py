"""The WebRTC peer connection of one client of the panel. Answers the client's offers, and moves the sound between that
connection and the client's socket.

Rule: the module `carrier` decides whether sound goes over the socket or the peer connection; this class opens and
closes connections as `carrier` says.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from duologue.lines.browser import BrowserLine
from duologue.lines.webrtc.heard_sound import Report
from duologue.lines.webrtc.offers import OfferRefused
from duologue.lines.webrtc.packet_player import PacketPlayer
from duologue.lines.webrtc.path import PathPlace

from .carrier import CarrierAct, CarrierInput, CarrierPlace, step
from .client_outbox import ClientOutbox
from .limited_caller import now_ms
from .server_messages import message
from .settings import WebRtcSettings
from .webrtc_peers import new_peer, why_no_webrtc

if TYPE_CHECKING:
    from duologue.lines.webrtc.peer import Peer

LOG = logging.getLogger("duologue.server")
HEARD_HZ = 16_000
OFFERS_MAX = 40  # of one socket; a client that needs more stays on its socket
_PATH_INPUTS = {
    PathPlace.UP: CarrierInput.PATH_UP,
    PathPlace.QUIET: CarrierInput.PATH_QUIET,
    PathPlace.LOST: CarrierInput.PATH_LOST,
}


class _Connection:
    """One peer connection. As soon as the client has a newer one, the sound and the state changes of this one are
    ignored."""

    def __init__(self, owner: ClientPeer, line: BrowserLine) -> None:
        self.player = PacketPlayer(line, now_ms, owner.note_report)
        self.peer: Peer | None = None
        self.heard_at_ms = now_ms()
        self.delay_ms = 0
        self._owner = owner

    @property
    def _is_newest(self) -> bool:
        return self._owner.connection is self

    def take(self, stamp: int) -> bytes:
        return self.player.take(stamp)

    def look(self, quiet_ms: int = 0) -> None:
        self.player.delay_ms = self.delay_ms
        self.player.look(quiet_ms)
        if self._is_newest:
            self._owner.look()

    def hear(self, pcm: bytes, ms: int) -> None:  # noqa: ARG002 - the conversation counts it
        self.heard_at_ms = now_ms()
        if self._is_newest:
            self._owner.hear(pcm)

    def move_to(self, place: PathPlace) -> None:
        if self._is_newest and place in _PATH_INPUTS:
            self._owner.post(_PATH_INPUTS[place])

    def open_channel(self, channel: Any) -> None: ...


class ClientPeer:
    """The peer connections of one client, one after another. `hear` is called with the sound from the client's
    microphone."""

    def __init__(
        self, line: BrowserLine, client: ClientOutbox, settings: WebRtcSettings, hear: Callable[[bytes], None]
    ) -> None:
        self._line = line
        self._client = client
        self._settings = settings
        self._hear = hear
        self._socket_hz = line.rate_hz
        self.place = CarrierPlace.SOCKET
        self.connection: _Connection | None = None
        self._former: _Connection | None = None
        self._offers = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._acts: dict[CarrierAct, Callable[[], None]] = {
            CarrierAct.USE_PEER: self._use_peer,
            CarrierAct.USE_SOCKET: self._use_socket,
            CarrierAct.CLOSE_FORMER: self._close_former,
            CarrierAct.CLOSE_PEER: self._close_peer,
            CarrierAct.TELL_FAILED: lambda: self._refuse("ice_failed", "WebRTC could not be connected"),
        }

    # -- What the client does

    @property
    def uses_socket(self) -> bool:
        """Does the client's sound come over its socket?"""
        return self.place is not CarrierPlace.PEER

    def offer(self, sdp: str) -> None:
        """Answer the client's offer of a peer connection. If that fails, the client is told, and the sound goes on as
        before."""
        self._offers += 1
        if (why := why_no_webrtc(self._settings)) is not None:
            self._refuse("no_webrtc", why)
        elif self._offers > OFFERS_MAX:
            self._refuse("too_many_offers", "this client has sent too many offers: use the socket")
        else:
            self._start(self._answer(sdp))

    async def _answer(self, sdp: str) -> None:
        made = _Connection(self, self._line)
        made.peer = new_peer(made, made, self._settings)
        try:
            answer = await made.peer.answer(sdp)
        except OfferRefused as why:
            self._refuse(why.code, str(why))
            return
        if self._client.is_closing:
            await made.peer.close()
            return
        self._former, self.connection = self.connection, made
        self.post(CarrierInput.OFFER_CAME)
        self._client.send_message(message("webrtc", sdp=answer))

    def _refuse(self, code: str, why: str) -> None:
        self._client.send_message(message("error", code="webrtc_refused", reason=code, message=f"webrtc: {why}"))

    def note_heard(self, timestamp: int) -> None:
        """Note the client's report that it is playing the packet with this RTP timestamp."""
        if self.place is CarrierPlace.PEER and self.connection is not None and self.connection.peer is not None:
            stamp = self.connection.peer.stamp_of(timestamp)
            if stamp is not None:
                self.connection.player.note_stamp(stamp)

    def leave(self) -> None:
        """Close the peer connection, because the client's socket is closed."""
        if self.place is CarrierPlace.PEER and self.connection is not None:
            self._line.detach(self.connection.player)
        self.post(CarrierInput.CLIENT_LEFT)

    # -- What connections tell

    def hear(self, pcm: bytes) -> None:
        if self.place is CarrierPlace.PEER:
            self._hear(pcm)

    def look(self) -> None:
        if self.place is CarrierPlace.WAITING and not self._line.is_sounding:
            self.post(CarrierInput.SILENCE_CAME)

    def note_report(self, report: Report) -> None:
        """Tell the client how many milliseconds of a voice (the sound of one reply) its user has heard. The client
        needs this number when it reconnects."""
        self._client.send_message(message("heard", voice=report.voice, ms=report.heard_ms))

    def post(self, given: CarrierInput) -> None:
        done = step(self.place, given)
        self.place = done.place
        for act in done.acts:
            self._acts[act]()

    # -- What is decided

    def _use_peer(self) -> None:
        assert self.connection is not None
        LOG.info("a client's sound goes over WebRTC")
        self._socket_hz, self._line.rate_hz = self._line.rate_hz, HEARD_HZ
        self._client.stop_cue()
        if self._line.has_ambient:
            self._client.send_ambient(b"")
        self._client.send_message(message("carrier", carrier="webrtc"))
        self._line.attach(self.connection.player)

    def _use_socket(self) -> None:
        """Move the sound back to the socket. The client is asked to send the microphone's sound again from the moment
        at which the server last heard it."""
        used = self._former if self._former is not None else self.connection
        assert used is not None
        LOG.info("a client's sound goes over its socket again")
        self._line.rate_hz = self._socket_hz
        missed_ms = max(0, now_ms() - used.heard_at_ms)
        self._client.send_message(message("carrier", carrier="socket", missedMs=missed_ms))
        used.player.leave()
        self._line.attach(self._client)

    def _close_former(self) -> None:
        former, self._former = self._former, None
        if former is not None and former.peer is not None:
            self._start(former.peer.close())

    def _close_peer(self) -> None:
        closed, self.connection = self.connection, None
        self._former = None
        if closed is not None and closed.peer is not None:
            self._start(closed.peer.close())

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, name="peer connection")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
