"""One peer connection: answers an offer, sends the sound of the player, and passes on the sound from the client.

Rule: this class only does input and output. `arrival_order` decides when each packet is heard, `heard_sound` decides
what was heard of a voice, and `path` decides whether the path works.
"""

from __future__ import annotations

import asyncio
import logging
import time
from fractions import Fraction
from typing import Any, Protocol

from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCDataChannel,
    RTCIceServer,
    RTCPeerConnection,
    RTCSessionDescription,
)
from av.packet import Packet

from ..opus import CLOCK_HZ, PACKET_CLOCKS, PACKET_MS, SILENCE, OpusDecoder, OpusEncoder, clocks_of
from . import arrival_order, path
from .aiortc_internals import ReceiverReport, last_timestamp, round_trip_ms, tap_packets, tap_reports
from .ice_servers import IceServers
from .offers import OfferRefused, prepare_offer, with_address

LOG = logging.getLogger("duologue.webrtc")
ANSWER_S_MAX = 10.0
LOOK_PACKETS = 5  # `look` is called after this many packets
LATE_S_MAX = 0.5  # if the event loop was blocked for longer, packets are left out
QUIET_PACKETS = 5  # this many silent pieces are encoded before ready-made silence is sent
HEARD_HZ = 16_000
_TIME_BASE = Fraction(1, CLOCK_HZ)
for _name in ("aioice", "aiortc"):  # at INFO, they write the network addresses of clients into the log
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.WARNING)


class SoundSource(Protocol):
    """The source of the sound that a peer connection sends."""

    delay_ms: int

    def take(self, stamp: int) -> bytes:
        """The next 20 ms of sound, for the packet with this stamp; empty for silence."""
        ...

    def look(self, quiet_ms: int = 0) -> None:
        """Report what was heard by now."""
        ...


class PeerEvents(Protocol):
    """The events that a peer connection reports. After `close`, it reports nothing."""

    def hear(self, pcm: bytes, ms: int) -> None:
        """Sound from the client's microphone has arrived, at 16 kHz."""
        ...

    def move_to(self, place: path.PathPlace) -> None:
        """The network path has changed to this state."""
        ...

    def open_channel(self, channel: RTCDataChannel) -> None:
        """The client has opened a data channel."""
        ...


class Peer:
    """One peer connection. It sends the sound of `source` as soon as it is connected."""

    def __init__(self, source: SoundSource, events: PeerEvents, servers: IceServers, address: str = "") -> None:
        self._source = source
        self._events = events
        self._servers = servers
        self._address = address
        self._connection = RTCPeerConnection(RTCConfiguration(iceServers=_ice_servers(servers)))
        self._track = _SentTrack(self)
        self._decoder = OpusDecoder(HEARD_HZ)
        self._packets: dict[int, bytes] = {}
        self._arrived = arrival_order.ArrivalState()
        self._path = path.PathState(since_ms=_now_ms())
        self._origin: int | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._sender: Any = None
        self.report = ReceiverReport(0, 0)

    @property
    def arrived(self) -> arrival_order.ArrivalState:
        """The state of `arrival_order`: what is known about the packets from the client."""
        return self._arrived

    # -- Connecting and closing

    async def answer(self, sdp: str) -> str:
        """Return the answer to an offer. The connection is then made in the background. Raises OfferRefused if the
        offer can't work."""
        prepared = prepare_offer(sdp, self._servers.is_relayed)
        connection = self._connection
        connection.on("track", self._take_track)
        connection.on("datachannel", self._open_channel)
        connection.on("connectionstatechange", self._note_state)
        try:
            async with asyncio.timeout(ANSWER_S_MAX):
                self._sender = connection.addTrack(self._track)
                tap_reports(self._sender, self._note_report)
                await connection.setRemoteDescription(RTCSessionDescription(prepared, "offer"))
                await connection.setLocalDescription(await connection.createAnswer())
        except Exception as problem:  # noqa: BLE001 - aiortc raises anything for SDP that it can't use
            await self.close()
            if isinstance(problem, TimeoutError):
                raise OfferRefused("no_address", "the server found no network address in time: try again") from None
            LOG.info("an offer can't be answered: %s", type(problem).__name__)
            raise OfferRefused("invalid_offer", "the offer can't be answered: its SDP is incomplete or wrong") from None
        self._look_at_path()
        return with_address(connection.localDescription.sdp, self._address)

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            if self._watch is not None:
                self._watch.cancel()
            await self._connection.close()

    def _note_state(self) -> None:
        state = self._connection.connectionState
        if state == "connected":
            self._follow(path.PathConnected(_now_ms()))
        elif state in ("failed", "closed"):
            self._follow(path.PathFailed(_now_ms()))

    def _look_at_path(self) -> None:
        """Check the network path once a second, even if no packet is sent. So a connection that can't be made is given
        up after a while."""
        self._follow(path.PathLooked(_now_ms()))
        if not self._is_closed and self._path.place is not path.PathPlace.LOST:
            self._watch = asyncio.get_running_loop().call_later(1.0, self._look_at_path)

    def _follow(self, given: path.PathInput) -> None:
        before, self._path = self._path, path.step(self._path, given)
        if self._path.place is not before.place and not self._is_closed:
            self._events.move_to(self._path.place)

    def _open_channel(self, channel: RTCDataChannel) -> None:
        self._events.open_channel(channel)

    # -- From the client

    def _take_track(self, track: MediaStreamTrack) -> None:
        for transceiver in self._connection.getTransceivers():
            if transceiver.receiver.track is track and track.kind == "audio":
                tap_packets(transceiver.receiver, self._hear)

    def _hear(self, timestamp: int, payload: bytes) -> None:
        """Handle a packet of the client's sound."""
        clocks = clocks_of(payload)
        if not clocks or self._is_closed:
            return
        now_ms = _now_ms()
        self._follow(path.PacketCame(now_ms))
        stamp = arrival_order.unwrap(timestamp, self._arrived.next_stamp)
        self._packets[stamp] = payload
        self._arrived, heard = arrival_order.step(self._arrived, timestamp, clocks, now_ms)
        for one in heard:
            pcm = self._decode(one)
            self._events.hear(pcm, len(pcm) * 500 // HEARD_HZ)
        if heard or len(self._packets) > arrival_order.WAITING_MAX:
            kept = {packet.stamp for packet in self._arrived.waiting}
            self._packets = {stamp: packet for stamp, packet in self._packets.items() if stamp in kept}

    def _decode(self, one: arrival_order.Heard) -> bytes:
        if isinstance(one, arrival_order.HearPacket):
            return self._decoder.decode(self._packets[one.stamp])
        following = self._packets[one.following] if one.following is not None else None
        return self._decoder.conceal(one.clocks, following)

    def _note_report(self, report: ReceiverReport) -> None:
        self.report = report
        self._source.delay_ms = round_trip_ms(self._sender) // 2
        self._track.expect_loss(report.lost_percent)

    # -- To the client

    def stamp_of(self, timestamp: int) -> int | None:
        """Convert the RTP timestamp of one of our packets to its stamp, which counts from the start of the connection.
        None if no packet was sent yet."""
        return (timestamp - self._origin) % (1 << 32) if self._origin is not None else None

    def take(self, stamp: int) -> bytes:
        """The next 20 ms of sound to send."""
        if stamp >= PACKET_CLOCKS and self._origin is None:
            self._origin = (last_timestamp(self._sender) - self._track.sent_stamp) % (1 << 32)
        if stamp // PACKET_CLOCKS % LOOK_PACKETS == 0:
            now_ms = _now_ms()
            self._follow(path.PathLooked(now_ms))
            packet_ms = self._path.packet_ms
            self._source.look(now_ms - packet_ms if packet_ms is not None else 0)
        return self._source.take(stamp)


class _SentTrack(MediaStreamTrack):
    """The track that a peer connection sends: one packet every 20 ms."""

    kind = "audio"

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self._peer = peer
        self._encoder = OpusEncoder()
        self._began_s: float | None = None
        self._count = 0
        self._silent = QUIET_PACKETS
        self.sent_stamp = 0  # of the packet that was sent last

    def expect_loss(self, percent: int) -> None:
        self._encoder.expect_loss(min(percent, 30))

    async def recv(self) -> Packet[Any]:
        """The next packet, when it is due."""
        loop = asyncio.get_running_loop()
        if self._began_s is None:
            self._began_s = loop.time()
        wait_s = self._began_s + self._count * PACKET_MS / 1000 - loop.time()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        elif wait_s < -LATE_S_MAX:
            self._count += int(-wait_s * 1000) // PACKET_MS
        stamp = self._count * PACKET_CLOCKS
        packet = Packet(self._encode(self._peer.take(stamp)))
        packet.pts, packet.time_base = stamp, _TIME_BASE
        self._count += 1
        self.sent_stamp = stamp
        return packet

    def _encode(self, pcm: bytes) -> bytes:
        if pcm:
            self._silent = 0
            return self._encoder.encode(pcm)
        if self._silent < QUIET_PACKETS:  # the encoder fades out
            self._silent += 1
            return self._encoder.encode(bytes(2 * 24 * PACKET_MS))
        return SILENCE


def _ice_servers(servers: IceServers) -> list[RTCIceServer]:
    given = servers.as_json(time.time())
    return [RTCIceServer(urls=one["urls"], **{k: v for k, v in one.items() if k != "urls"}) for one in given]  # type: ignore[arg-type]


def _now_ms() -> int:
    return int(asyncio.get_running_loop().time() * 1000)
