"""The private names of aiortc that are used exist in the version that is installed."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from aiortc import RTCPeerConnection
from aiortc.rtp import RtcpReceiverInfo, RtcpRrPacket

from duologue.lines.webrtc.aiortc_internals import (
    ReceiverReport,
    last_timestamp,
    round_trip_ms,
    tap_packets,
    tap_reports,
)


def test_packets_reports_and_timestamps_are_where_they_are_expected() -> None:
    async def look() -> None:
        connection = RTCPeerConnection()
        transceiver = connection.addTransceiver("audio")
        sender, receiver = transceiver.sender, transceiver.receiver
        assert last_timestamp(sender) == 0
        assert round_trip_ms(sender) == 0
        packets: list[tuple[int, bytes]] = []
        tap_packets(receiver, lambda stamp, payload: packets.append((stamp, payload)))
        tapped = vars(receiver)["_RTCRtpReceiver__jitter_buffer"]
        assert tapped.add(SimpleNamespace(timestamp=7, payload=b"x")) == (False, None)
        assert packets == [(7, b"x")]
        reports: list[ReceiverReport] = []
        tap_reports(sender, reports.append)
        info = RtcpReceiverInfo(
            ssrc=vars(sender)["_ssrc"], fraction_lost=64, packets_lost=5, highest_sequence=9, jitter=480, lsr=0, dlsr=0
        )
        await vars(sender)["_handle_rtcp_packet"](RtcpRrPacket(ssrc=1, reports=[info]))
        assert reports == [ReceiverReport(25, 10)]
        await connection.close()

    asyncio.run(look())
