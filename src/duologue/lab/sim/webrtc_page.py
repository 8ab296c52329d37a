"""A simulated page of the panel, which needs no browser: a socket, a peer connection, a microphone and a loudspeaker in
one event loop.

The simulated page follows the same protocol as the panel's page (`webrtc.js`): it offers a peer connection over its
socket, sends the sound of its microphone over the peer connection, and reports which packet its loudspeaker plays.
Rule: the loudspeaker plays 20 ms every 20 ms. A packet that hasn't arrived when it is due is concealed, and isn't
played later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av.packet import Packet

from duologue.client.messages import ServerSaid, VoiceChunk
from duologue.client.protocol_socket import ProtocolSocket
from duologue.lines.opus import CLOCK_HZ, PACKET_CLOCKS, PACKET_MS, OpusDecoder, OpusEncoder
from duologue.lines.webrtc.aiortc_internals import tap_packets
from duologue.lines.webrtc.arrival_order import unwrap

RATE_HZ = 24_000  # of the microphone and the loudspeaker
REPORT_TICKS = 5  # the page reports what it plays every 100 ms
_PIECE = RATE_HZ * PACKET_MS // 1000 * 2  # bytes
_ENDED = "the socket of the page was closed"


class PageMicrophone(MediaStreamTrack):
    """Sends the sound that it is given in real time, and silence after it."""

    kind = "audio"

    def __init__(self, loss_percent: int = 0) -> None:
        super().__init__()
        self.pcm = bytearray()
        self._encoder = OpusEncoder(RATE_HZ)
        self._encoder.expect_loss(loss_percent)
        self._count = 0
        self._began_s: float | None = None

    async def recv(self) -> Packet[Any]:
        loop = asyncio.get_running_loop()
        self._began_s = loop.time() if self._began_s is None else self._began_s
        await asyncio.sleep(max(0.0, self._began_s + self._count * PACKET_MS / 1000 - loop.time()))
        piece = bytes(self.pcm[:_PIECE])
        del self.pcm[:_PIECE]
        packet = Packet(self._encoder.encode(piece.ljust(_PIECE, b"\0")))
        packet.pts, packet.time_base = self._count * PACKET_CLOCKS, Fraction(1, CLOCK_HZ)
        self._count += 1
        return packet


class Loudspeaker:
    """Plays packets in the order of their timestamps. Playback starts `delay_ms` after the first packet could have been
    played."""

    def __init__(self, delay_ms: int = 100) -> None:
        self._delay_clocks = delay_ms // PACKET_MS * PACKET_CLOCKS
        self._has_begun = False  # a packet was played
        self._packets: dict[int, bytes] = {}
        self._decoder = OpusDecoder(RATE_HZ)
        self.next_stamp: int | None = None  # of the next packet to play; everything before it was played
        self.pcm = bytearray()  # what was played
        self.concealed = 0

    def take(self, timestamp: int, payload: bytes) -> None:
        """Store a packet that has arrived, unless it comes too late to be played."""
        stamp = unwrap(timestamp, self.next_stamp)
        if self.next_stamp is None:
            self.next_stamp = stamp - self._delay_clocks
        if stamp >= self.next_stamp:
            self._packets[stamp] = payload

    def play(self) -> None:
        """Play the next 20 ms."""
        if self.next_stamp is None:
            return
        packet = self._packets.pop(self.next_stamp, None)
        self.next_stamp += PACKET_CLOCKS
        if packet is not None:
            self._has_begun = True
            self.pcm += self._decoder.decode(packet)
        elif self._has_begun:
            self.concealed += 1
            self.pcm += self._decoder.conceal(PACKET_CLOCKS, self._packets.get(self.next_stamp))


class WebRtcPage:
    """One page. `said` are the messages of the server, `reported` the RTP timestamps that the page has reported as
    played, and `over_socket` the sound that came over the socket, in ms by voice."""

    def __init__(self, loss_percent: int = 0) -> None:
        self.microphone = PageMicrophone(loss_percent)
        self.loudspeaker = Loudspeaker()
        self.said: list[ServerSaid] = []
        self.reported: list[int] = []
        self.over_socket: dict[int, int] = {}
        self.carrier = "socket"
        self._connection = RTCPeerConnection()
        self._socket: ProtocolSocket | None = None
        self._news = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, url: str, **hello: Any) -> None:
        """Connect the socket, begin a conversation (or continue the one that `hello` names), and move the sound to a
        peer connection."""
        self._socket = socket = await ProtocolSocket.open(url)
        self._tasks.append(asyncio.ensure_future(self._read(socket)))
        await socket.send("hello", version=1, **{"seat": "page", **hello})
        if "conversation" not in hello:
            await socket.send("start")
        await self.expect("state", state="listening")
        await self.connect_peer()

    async def connect_peer(self) -> None:
        """Offer a peer connection, and wait until it carries the sound."""
        assert self._socket is not None
        connection = self._connection
        connection.addTrack(self.microphone)
        for transceiver in connection.getTransceivers():
            tap_packets(transceiver.receiver, self.loudspeaker.take)
        await connection.setLocalDescription(await connection.createOffer())
        await self._socket.send("webrtc", sdp=connection.localDescription.sdp)
        answer = await self.expect("webrtc")
        await connection.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
        await self.until(lambda: self.carrier == "webrtc")
        self._tasks.append(asyncio.ensure_future(self._play(self._socket)))

    async def send(self, kind: str, **payload: Any) -> None:
        assert self._socket is not None
        await self._socket.send(kind, **payload)

    async def vanish(self) -> None:
        """Lose both connections without telling the server, as when a machine is switched off."""
        assert self._socket is not None
        self._socket.abort()
        await self.close()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._connection.close()
        if self._socket is not None:
            await self._socket.close()

    # -- What the server said

    def told(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        """The payloads of all messages of this kind from the server whose fields have these values."""
        return [
            one.payload
            for one in self.said
            if one.kind == kind and all(one.payload.get(name) == value for name, value in fields.items())
        ]

    async def expect(self, kind: str, after: int = 0, **fields: Any) -> dict[str, Any]:
        """Skip the first `after` messages of this kind whose fields have these values, and wait for the next one.
        Returns its payload."""
        await self.until(lambda: len(self.told(kind, **fields)) > after)
        return self.told(kind, **fields)[after]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds()` is true. It is called after each message from the server, and after each 20 ms of
        playback."""
        while not holds():
            if self._tasks and self._tasks[0].done():
                raise ConnectionError(_ENDED)
            self._news.clear()
            await self._news.wait()

    async def _read(self, socket: ProtocolSocket) -> None:
        async for one in socket:
            if isinstance(one, VoiceChunk):
                self.over_socket[one.number] = self.over_socket.get(one.number, 0) + one.samples * 1000 // RATE_HZ
            else:
                self.said.append(one)
                if one.kind == "carrier":
                    self.carrier = one.payload["carrier"]
            self._news.set()
        self._news.set()

    async def _play(self, socket: ProtocolSocket) -> None:
        """Play the sound that arrives, and report to the server what is played, until the page is closed."""
        loop = asyncio.get_running_loop()
        began_s, ticks = loop.time(), 0
        with suppress(asyncio.CancelledError):
            while True:
                ticks += 1
                await asyncio.sleep(max(0.0, began_s + ticks * PACKET_MS / 1000 - loop.time()))
                self.loudspeaker.play()
                stamp = self.loudspeaker.next_stamp
                if ticks % REPORT_TICKS == 0 and self.carrier == "webrtc" and stamp is not None:
                    self.reported.append(stamp % (1 << 32))
                    await socket.send("heard", rtp=stamp % (1 << 32))
                self._news.set()
