"""A page without a browser: what its loudspeaker plays, and whole calls on a network that loses and delays packets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")

from duologue.lab.sim.lossy_network import LossyNetwork, run_lossy
from duologue.lab.sim.webrtc_page import RATE_HZ, Loudspeaker, WebRtcPage
from duologue.lines.opus import PACKET_CLOCKS, PACKET_MS, OpusEncoder
from duologue.lines.webrtc.packet_player import PacketPlayer
from duologue.server.settings import WebRtcSettings
from tests.server.realtime.tone_agent import WORD_MS, tone, tone_agent
from tests.server.running_server import running_server


def test_a_loudspeaker_plays_in_order_after_its_delay_and_conceals_what_is_missing() -> None:
    encoder, speaker = OpusEncoder(RATE_HZ), Loudspeaker(delay_ms=40)
    packets = {stamp: encoder.encode(bytes(960)) for stamp in range(0, 6 * PACKET_CLOCKS, PACKET_CLOCKS)}
    for stamp in (PACKET_CLOCKS, 0, 2 * PACKET_CLOCKS, 4 * PACKET_CLOCKS):  # in another order, and one is lost
        speaker.take(stamp, packets[stamp])
    for _ in range(6):
        speaker.play()
    speaker.take(3 * PACKET_CLOCKS, packets[3 * PACKET_CLOCKS])  # too late
    assert speaker.next_stamp == 5 * PACKET_CLOCKS
    assert speaker.concealed == 1
    assert len(speaker.pcm) == 5 * 960


class SentVoice:
    """What the server's track took from each voice: counted where the sound is encoded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pieces: list[tuple[int, int]] = []  # the voice and the stamp of each packet with sound
        voice = 0
        send, take = PacketPlayer.send_sound, PacketPlayer.take

        def noted_send(player: PacketPlayer, number: int, chunk: int, pcm: bytes) -> None:
            nonlocal voice
            voice = number
            send(player, number, chunk, pcm)

        def noted_take(player: PacketPlayer, stamp: int) -> bytes:
            pcm = take(player, stamp)
            if any(pcm):
                self.pieces.append((voice, stamp))
            return pcm

        monkeypatch.setattr(PacketPlayer, "send_sound", noted_send)
        monkeypatch.setattr(PacketPlayer, "take", noted_take)

    def ms(self, voice: int, before: int | None = None) -> int:
        """How much of a voice was sent, or was sent in packets before this stamp."""
        found = [at for number, at in self.pieces if number == voice and (before is None or at < before)]
        return len(found) * PACKET_MS


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


def talk(network: LossyNetwork, hears: list[str], script: Callable[[WebRtcPage], Awaitable[None]]) -> WebRtcPage:
    async def whole() -> WebRtcPage:
        webrtc = WebRtcSettings(panel=True)
        async with running_server(lambda: tone_agent(hears=hears), webrtc=webrtc) as made:
            page = WebRtcPage(round(network.loss * 100))
            try:
                await page.open(f"http://127.0.0.1:{made.port}/")
                await script(page)
            finally:
                await page.close()
            return page

    return run_lossy(asyncio.wait_for(whole(), 120), network)


@pytest.mark.req("L-24")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_call_over_a_network_with_loss_and_jitter_is_understood_and_heard_to_the_millisecond(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    sent, network = SentVoice(monkeypatch), LossyNetwork(loss=0.10, jitter_ms=80, seed=seed)

    async def script(page: WebRtcPage) -> None:
        async def say_and_hear(answers: int) -> None:
            page.microphone.pcm += tone(600)
            await page.expect("caption", after=answers - 1, role="assistant", final=True)

        await say_and_hear(1)
        page.microphone.pcm += tone(600)  # asks for a story, and interrupts it
        await page.until(lambda: page.told("heard")[-1]["ms"] > 1_500)
        await say_and_hear(2)
        await page.expect("caption", after=2, role="assistant", final=True)
        await say_and_hear(4)
        await asyncio.sleep(1)

    page = talk(network, ["good morning", "tell me a story", "stop please now", "thank you"], script)
    assert network.sound_lost > 0.07 * network.sound_packets
    assert network.other_lost > 0
    assert [told["text"] for told in page.told("caption", role="user", final=True)] == [
        "good morning", "tell me a story", "stop please now", "thank you"
    ]  # fmt: skip
    answers = [told["text"] for told in page.told("caption", role="assistant", final=True)]
    assert answers[0::2] == ["You said good morning.", "You said stop please now."]
    assert answers[3] == "You said thank you."
    assert page.over_socket == {}, "all sound came over WebRTC"
    # What the server counts as heard is what the page has played, to the millisecond.
    origin = min(network.first_stamps.values(), key=lambda first: (page.reported[-1] - first) % (1 << 32))
    played = [(stamp - origin) % (1 << 32) for stamp in page.reported]
    for told in page.told("heard"):
        assert told["ms"] in {sent.ms(told["voice"], before=stamp) for stamp in played}
    ends = {told["voice"]: told["ms"] for told in page.told("heard")}
    assert ends == {voice: sent.ms(voice) for voice in ends}
    assert [ms for ms in ends.values() if ms >= 40 * WORD_MS] == [], "the story was interrupted"
    cut_ms = max(ends.values())
    assert len(answers[1].split()) == cut_ms // WORD_MS
