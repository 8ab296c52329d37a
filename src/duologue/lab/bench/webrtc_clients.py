"""The clients of `duologue bench webrtc`, in a separate process: `python -m …webrtc_clients SESSIONS`.

Each client writes its offer as a line of JSON, reads the answer, and speaks until standard input is closed. Rule:
packets are encoded only one time and then sent again and again, so that this process has time for many clients.
"""

from __future__ import annotations

import asyncio
import json
import sys
from fractions import Fraction
from typing import Any

from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av.packet import Packet

from duologue.lines.opus import PACKET_CLOCKS
from duologue.lines.webrtc.aiortc_internals import tap_packets
from duologue.server.run import run

from .webrtc import changing_tone, encoded


class _Microphone(MediaStreamTrack):
    kind = "audio"

    def __init__(self, packets: list[bytes]) -> None:
        super().__init__()
        self._packets = packets
        self._count = 0
        self._began = asyncio.get_running_loop().time()

    async def recv(self) -> Packet[Any]:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._began + self._count * 0.02 - loop.time()))
        packet = Packet(self._packets[self._count % len(self._packets)])
        packet.pts, packet.time_base = self._count * PACKET_CLOCKS, Fraction(1, 48_000)
        self._count += 1
        return packet


async def _client(packets: list[bytes]) -> RTCPeerConnection:
    connection = RTCPeerConnection()
    connection.addTrack(_Microphone(packets))
    for transceiver in connection.getTransceivers():
        tap_packets(transceiver.receiver, lambda stamp, payload: None)  # noqa: ARG005
    await connection.setLocalDescription(await connection.createOffer())
    sys.stdout.write(json.dumps(connection.localDescription.sdp) + "\n")
    sys.stdout.flush()
    answer = json.loads(await asyncio.to_thread(sys.stdin.readline))
    await connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    return connection


async def _run(sessions: int) -> None:
    packets = encoded(changing_tone(5_000), 0.0)
    connections = [await _client(packets) for _ in range(sessions)]
    await asyncio.to_thread(sys.stdin.read)
    await asyncio.gather(*(connection.close() for connection in connections))


if __name__ == "__main__":
    run(_run(int(sys.argv[1])))
