"""A peer connection with a real aiortc client: sound both ways, what was heard, a path that breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lines.browser import BrowserLine
from duologue.lines.webrtc.ice_servers import IceServers
from duologue.lines.webrtc.offers import OfferRefused
from duologue.lines.webrtc.packet_player import PacketPlayer
from duologue.lines.webrtc.path import PathPlace
from duologue.lines.webrtc.peer import Peer
from duologue.ports.line import Finished, LineEvent, Played
from duologue.ports.sound import Sound

from .aiortc_client import AiortcClient, MicrophoneTrack, loudest_hz, tone


class Events:
    """Collects what a peer tells."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.places: list[PathPlace] = []
        self.channels: list[Any] = []

    def hear(self, pcm: bytes, ms: int) -> None:
        self.heard += pcm

    def move_to(self, place: PathPlace) -> None:
        self.places.append(place)

    def open_channel(self, channel: Any) -> None:
        self.channels.append(channel)


async def until(is_true: Callable[[], bool], s: float = 20.0) -> None:
    async with asyncio.timeout(s):
        while not is_true():
            await asyncio.sleep(0.02)


def run(work: Any) -> None:
    run_jumping(asyncio.wait_for(work, 60))


def test_sound_goes_both_ways_and_is_counted_as_heard() -> None:
    async def talk() -> None:
        line, told, events = BrowserLine(), [], Events()

        def notify(event: LineEvent) -> None:
            told.append(event)

        loop = asyncio.get_running_loop()
        player = PacketPlayer(line, lambda: int(loop.time() * 1000), lambda _: None)
        peer = Peer(player, events, IceServers())
        client = AiortcClient(MicrophoneTrack(tone(4_000, 440)))
        channel = client.open_channel("oai-events")
        try:
            line.attach(player)
            await line.open(notify)
            await client.accept(await peer.answer(await client.offer()))
            await until(lambda: PathPlace.UP in events.places and len(events.heard) > 16_000)
            line.play(1, 1, Sound(1_000, tone(1_000, 880, 24_000), 24_000))
            line.finish(1)
            await until(lambda: Finished(1, 1_000) in told)
            await until(lambda: channel.readyState == "open" and bool(events.channels))
        finally:
            await client.close()
            await peer.close()
        played = [event.heard_ms for event in told if isinstance(event, Played)]
        assert len(played) > 3
        assert played == sorted(played)
        assert abs(loudest_hz(bytes(events.heard[8_000:16_000]), 16_000) - 440) < 10
        sounding = bytes(client.heard).lstrip(b"\0")
        assert abs(loudest_hz(sounding[20_000:60_000], 48_000) - 880) < 20

    run(talk())


def test_a_path_that_breaks_is_quiet_and_recovers() -> None:
    async def talk() -> None:
        line, events = BrowserLine(), Events()
        peer = Peer(PacketPlayer(line, lambda: 0, lambda _: None), events, IceServers())
        client = AiortcClient()
        try:
            await client.accept(await peer.answer(await client.offer()))
            await until(lambda: len(events.heard) > 3_200)
            client.sender.replaceTrack(None)  # no more packets
            await until(lambda: events.places[-1] is PathPlace.QUIET)
            client.sender.replaceTrack(client.microphone)
            await until(lambda: events.places[-1] is PathPlace.UP)
        finally:
            await client.close()
            await peer.close()
        assert events.places == [PathPlace.UP, PathPlace.QUIET, PathPlace.UP]

    run(talk())


def test_an_offer_that_aiortc_cannot_read_is_refused() -> None:
    async def talk() -> None:
        sdp = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n"
        peer = Peer(PacketPlayer(BrowserLine(), lambda: 0, lambda _: None), Events(), IceServers())
        with pytest.raises(OfferRefused, match="incomplete or wrong") as refused:
            await peer.answer(sdp)
        assert refused.value.code == "invalid_offer"

    run(talk())
