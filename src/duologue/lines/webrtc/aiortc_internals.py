"""The only module that uses private names of aiortc. It needs them to get each packet as soon as it arrives, to get the
client's reports, and to read timestamps.

aiortc's receiver waits for a lost packet until 16 other packets have arrived, and then decodes in a separate thread.
This is too slow, so we take the packets before aiortc's receiver handles them, and `arrival_order` puts them in order.
Rule: no other module uses private names of aiortc. The names are those of aiortc 1.16, and the tests of `peer` show
whether they still exist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from aiortc import RTCRtpReceiver, RTCRtpSender
from aiortc.rtp import RtcpRrPacket, RtcpSrPacket


class ReceiverReport(NamedTuple):
    """What the client has last reported about the sound that it receives."""

    lost_percent: int
    jitter_ms: int


class _PacketTap:
    """Replaces the jitter buffer of aiortc's receiver. It passes packets to `on_packet`, and returns no frames, so
    aiortc decodes nothing."""

    def __init__(self, on_packet: Callable[[int, bytes], None]) -> None:
        self._on_packet = on_packet

    def add(self, packet: Any) -> tuple[bool, None]:
        self._on_packet(packet.timestamp, packet.payload)
        return False, None


def tap_packets(receiver: RTCRtpReceiver, on_packet: Callable[[int, bytes], None]) -> None:
    """Call `on_packet` with the timestamp and the payload of each packet as soon as it arrives. aiortc no longer
    decodes the packets."""
    receiver._RTCRtpReceiver__jitter_buffer = _PacketTap(on_packet)  # type: ignore[attr-defined]


def tap_reports(sender: RTCRtpSender, on_report: Callable[[ReceiverReport], None]) -> None:
    """Call `on_report` with each report from the client about the sound that it receives."""
    handle = sender._handle_rtcp_packet

    async def tapped(packet: Any) -> None:
        await handle(packet)
        if isinstance(packet, RtcpRrPacket | RtcpSrPacket):
            for report in packet.reports:
                if report.ssrc == sender._ssrc:
                    on_report(ReceiverReport(report.fraction_lost * 100 // 256, report.jitter // 48))

    sender._handle_rtcp_packet = tapped  # type: ignore[method-assign]


def round_trip_ms(sender: RTCRtpSender) -> int:
    """The round-trip time according to the client's reports; 0 before the first report."""
    seconds = sender._RTCRtpSender__rtt  # type: ignore[attr-defined]
    return max(0, round(seconds * 1000)) if seconds is not None else 0


def last_timestamp(sender: RTCRtpSender) -> int:
    """The RTP timestamp of the packet that was sent last."""
    stamp: int = sender._RTCRtpSender__rtp_timestamp  # type: ignore[attr-defined]
    return stamp
