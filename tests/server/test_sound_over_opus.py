"""Clients that use Opus on their sockets: what is agreed, what is heard, reconnects, and packets that are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.testing import ScriptedEars
from tests.server.opus_client import VoiceReader, microphone_packets
from tests.server.running_server import Client, RunningServer, agent_that_says, serve, talk

BOTH = {"rate_hz": 16_000, "input": ["opus"], "output": ["opus"]}
LONG = "This is a long answer, and it takes a while to say all of it to the end."


class OpusClient(Client):
    """Decodes what it hears, and reports what it has decoded as heard."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.readers: dict[int, VoiceReader] = {}
        self.begun: dict[int, int] = {}  # streams of each voice
        self.from_ms: dict[int, int] = {}  # where the newest stream of a voice begins
        self.sound_bytes = 0

    async def _hear(self, frame: bytes) -> None:
        voice, chunk = int.from_bytes(frame[4:8], "little"), int.from_bytes(frame[8:12], "little")
        reader = self.readers.setdefault(voice, VoiceReader())
        parsed = reader.read(frame)
        self.sound_bytes += len(frame)
        if parsed.is_new:
            self.begun[voice] = self.begun.get(voice, 0) + 1
            self.from_ms[voice] = self.heard_ms.get(voice, 0)
        self.frames.append((voice, chunk, frame))
        decoded = min(reader.samples, len(reader.pcm) // 2)
        self.heard_ms[voice] = self.from_ms[voice] + decoded // 24
        if self.plays:
            await self.send("played", voice=voice, ms=self.heard_ms[voice])


async def begin(running: RunningServer, seat: str, plays: bool = True, **audio: Any) -> OpusClient:
    client = await running.connect(kind=OpusClient, plays=plays)
    assert isinstance(client, OpusClient)
    await client.begin(seat, audio=audio or BOTH)
    return client


def spoken_ms(text: str) -> int:
    """How long the scripted voice speaks."""
    return sum(len(word) + 1 for word in text.split()) * 60


def test_opus_is_agreed_and_a_turn_is_heard_and_answered_to_the_millisecond() -> None:
    async def script(running: RunningServer) -> None:
        client = await begin(running, "alice")
        (ready,) = client.told("ready")
        assert ready["audio"] == {"input_hz": 16_000, "output_hz": 24_000, "input": "opus", "output": "opus"}
        for packet in microphone_packets(400):
            await client.raw_send(packet)
        await running.say("hello")
        told = await client.expect("caption", role="assistant", final=True)
        assert (told["text"], told["unheard"]) == ("You said hello.", "")
        (reader,) = client.readers.values()
        assert reader.samples == spoken_ms("You said hello.") * 24
        assert list(client.heard_ms.values()) == [spoken_ms("You said hello.")]
        ears = running.agents[-1].ears
        assert isinstance(ears, ScriptedEars)
        assert ears.frames == 20
        metrics = (await running.get("/metrics")).body.decode()
        assert 'duologue_socket_sound_ms_total{direction="input",format="opus"} 400\n' in metrics
        assert f'duologue_socket_sound_ms_total{{direction="output",format="opus"}} {reader.samples // 24}\n' in metrics
        assert (
            f'duologue_socket_sound_bytes_total{{direction="output",format="opus"}} {client.sound_bytes}\n' in metrics
        )
        assert 'duologue_socket_sound_bytes_total{direction="output",format="pcm"} 0\n' in metrics

    serve(script, opus=True)


@pytest.mark.parametrize(
    ("audio", "is_on", "agreed"),
    [
        ({"rate_hz": 16_000}, True, ("pcm", "pcm")),
        (BOTH, False, ("pcm", "pcm")),
        ({"output": ["opus"]}, True, ("pcm", "opus")),
        ({"input": ["opus"], "output": []}, True, ("opus", "pcm")),
    ],
)
def test_without_an_offer_or_with_opus_off_there_is_pcm(
    audio: dict[str, Any], is_on: bool, agreed: tuple[str, str]
) -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice", audio=audio)
        told = (await client.expect("ready"))["audio"]
        assert (told["input"], told["output"]) == agreed

    serve(script, opus=is_on)


@pytest.mark.parametrize("audio", [{"input": "opus"}, {"input": [1]}, {"output": ["x"] * 9}, {"codec": "opus"}])
def test_an_offer_that_is_no_list_of_names_is_refused(audio: dict[str, Any]) -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice", audio=audio)
        assert "input and output: lists of formats" in (await client.expect("error", code="bad_message"))["message"]

    serve(script, opus=True)


def test_after_a_lost_connection_the_voice_goes_on_to_its_exact_end() -> None:
    async def script(running: RunningServer) -> None:
        client = await begin(running, "alice", plays=False)
        told = client.told("conversation")[0]
        await client.send("type", text="go on")
        await client.until(lambda: sum(voice == 1 for voice, _, _ in client.frames) >= 10, "a second of sound")
        await client.send("played", voice=1, ms=320)
        client.vanish()
        known = {"conversation": told["conversation"], "key": told["key"]}
        again = await running.connect(kind=OpusClient)
        assert isinstance(again, OpusClient)
        again.heard_ms[1] = 300  # the end of its third chunk
        await again.hello("alice", audio=BOTH, played={"voice": 1, "ms": 320, "chunk": 3, "held": True}, **known)
        final = await again.expect("caption", role="assistant", final=True)
        assert (final["text"], final["unheard"]) == (LONG, "")
        assert again.begun == {1: 1}
        assert again.readers[1].samples == (spoken_ms(LONG) - 300) * 24
        assert again.heard_ms[1] == spoken_ms(LONG)

    serve(script, agent_that_says([LONG]), opus=True)


def test_a_client_may_come_back_without_opus_and_gets_the_rest_as_pcm() -> None:
    async def script(running: RunningServer) -> None:
        client = await begin(running, "alice", plays=False)
        told = client.told("conversation")[0]
        await client.send("type", text="go on")
        await client.until(lambda: len(client.frames) >= 10, "a second of sound")
        client.vanish()
        known = {"conversation": told["conversation"], "key": told["key"]}
        again = await running.connect()
        again.heard_ms[1] = 300
        await again.hello("alice", played={"voice": 1, "ms": 300, "chunk": 3}, **known)
        await again.send("played", voice=1, ms=300)
        final = await again.expect("caption", role="assistant", final=True)
        assert (final["text"], final["unheard"]) == (LONG, "")
        assert again.heard_ms[1] == spoken_ms(LONG)

    serve(script, agent_that_says([LONG]), opus=True)


def test_wrong_packets_are_refused_in_words_and_then_close_their_socket_alone() -> None:
    async def script(running: RunningServer) -> None:
        other = await begin(running, "bob")
        client = await begin(running, "alice")
        wrong = [b"", b"\x01", b"\x02" + bytes(40), bytes(1_024), b"\x01" + bytes(1_000_000), b"\x01\xff\xff"]
        for frame in wrong:
            await client.raw_send(frame)
        for packet in microphone_packets(100):
            await client.raw_send(packet)
        await client.expect("error", after=len(wrong) - 1, code="bad_message")
        assert all("Opus packet" in told["message"] for told in client.told("error"))
        assert await talk(client, "still here") == "You said still here."
        metrics = (await running.get("/metrics")).body.decode()
        assert 'duologue_socket_sound_refused_total{direction="input",format="opus"} 6\n' in metrics
        for _ in range(20):
            await client.raw_send(b"\x01")
        assert (await client.gone())[0] == 4400
        assert await talk(other, "hello") == "You said hello."

    serve(script, opus=True)


def test_opus_that_was_not_agreed_is_refused_and_closes_the_socket() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        for packet in microphone_packets(400):
            await client.raw_send(packet)
        assert (await client.gone())[0] == 4400
        assert "Opus wasn't agreed" in client.told("error")[0]["message"]

    serve(script, opus=True)
