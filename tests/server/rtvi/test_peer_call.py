"""A client over WebRTC: what its connection brings and takes, with a connection that is a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from duologue.lines.webrtc.path import PathPlace
from duologue.ports.context import CallInfo, Context
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.conversations import Conversations
from duologue.server.rtvi.peer_call import RtviPeerCall
from duologue.server.settings import ServerSettings
from tests.server.realtime.tone_agent import silence, tone, tone_agent
from tests.server.rtvi.message_types import problems_of_message

PACKET_CLOCKS = 960


class Channel:
    """A data channel that keeps what is sent."""

    readyState = "open"  # noqa: N815 - as aiortc names it
    bufferedAmount = 0  # noqa: N815

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._take: Callable[[Any], None] = lambda text: None

    def on(self, name: str, do: Callable[[Any], None]) -> None:
        if name == "message":
            self._take = do

    def send(self, text: str) -> None:
        self.texts.append(text)

    def receive(self, text: str | bytes) -> None:
        self._take(text)

    def told(self, kind: str) -> list[Any]:
        return [message for message in map(json.loads, self.texts) if message["type"] == kind]


class ScriptedPeer:
    """A connection whose answers are known."""

    def __init__(self) -> None:
        self.is_closed = False

    async def answer(self, sdp: str) -> str:
        return f"answer to {sdp}"

    async def close(self) -> None:
        self.is_closed = True


class Talk:
    """A client with its connection."""

    def __init__(self, hears: list[str]) -> None:
        agent, settings = tone_agent(hears=hears), ServerSettings()
        self.over = 0
        context: Context[Any] = Context(CallInfo(conversation="0" * 32, line="rtvi"))
        conversations = Conversations(agent, settings)
        self.peer_call = RtviPeerCall(agent, context, conversations, settings, "", self._note_over)
        self.peer, self.channel = ScriptedPeer(), Channel()
        self.heard_ms = 0
        self._packets: asyncio.Task[None] | None = None

    def _note_over(self) -> None:
        self.over += 1

    async def connect(self) -> None:
        assert await self.peer_call.use(self.peer, "offer") == "answer to offer"  # type: ignore[arg-type]
        self.peer_call.move_to(PathPlace.UP)
        self.peer_call.open_channel(self.channel)
        self._packets = asyncio.ensure_future(self._take_packets())

    async def ready(self) -> None:
        self.send("client-ready", {"version": "2.1.0"})
        await self.until(lambda: self.channel.told("bot-ready"))

    async def _take_packets(self) -> None:
        for count in range(1 << 20):
            if count % 5 == 0:
                self.peer_call.look(20)
            self.heard_ms += 20 * bool(self.peer_call.take(count * PACKET_CLOCKS))
            await asyncio.sleep(0.02)

    def send(self, kind: str, data: Any = None) -> None:
        self.channel.receive(json.dumps({"label": "rtvi-ai", "type": kind, "id": "m", "data": data}))

    async def speak(self) -> None:
        pcm = tone(300, 16_000) + silence(700, 16_000)
        for at in range(0, len(pcm), 640):
            self.peer_call.hear(pcm[at : at + 640], 20)
            await asyncio.sleep(0.02)

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(30):
            while not holds():
                await asyncio.sleep(0.01)

    async def close(self) -> None:
        if self._packets is not None:
            self._packets.cancel()
        await self.peer_call.end("hung up")


def play(script: Callable[[Talk], Awaitable[None]], hears: list[str] | None = None) -> Talk:
    async def whole() -> Talk:
        talk = Talk(hears or [])
        try:
            await talk.connect()
            await script(talk)
        finally:
            await talk.close()
        return talk

    return run_simulated(whole())


def test_a_spoken_turn_goes_over_track_and_channel() -> None:
    async def script(talk: Talk) -> None:
        talk.channel.receive("ping: 12")
        talk.channel.receive(json.dumps({"type": "signalling", "message": {"type": "trackStatus"}}))
        await talk.ready()
        await talk.speak()
        await talk.until(lambda: talk.channel.told("bot-stopped-speaking"))

    talk = play(script, ["good morning"])
    messages = [message for message in map(json.loads, talk.channel.texts) if message["type"] != "signalling"]
    assert [problem for message in messages for problem in problems_of_message(message)] == []
    assert talk.channel.told("bot-transcription")[0]["data"] == {"text": "You said good morning."}
    assert talk.heard_ms == 4 * 120
    assert (talk.over, talk.peer.is_closed) == (1, True)


def test_a_new_connection_takes_over_in_the_middle_of_a_reply() -> None:
    async def script(talk: Talk) -> None:
        await talk.ready()
        talk.send("send-text", {"content": "tell me a story"})
        await talk.until(lambda: talk.channel.told("bot-started-speaking"))
        await asyncio.sleep(1)
        talk.peer_call.move_to(PathPlace.QUIET)
        former, talk.peer, talk.channel = talk.peer, ScriptedPeer(), Channel()
        await talk.peer_call.use(talk.peer, "again")  # type: ignore[arg-type]
        assert former.is_closed
        talk.peer_call.move_to(PathPlace.UP)
        talk.peer_call.open_channel(talk.channel)
        await talk.until(lambda: talk.channel.told("bot-stopped-speaking"))
        assert talk.channel.told("bot-interrupted") == []

    talk = play(script)
    assert talk.heard_ms >= 40 * 120, "no word is lost"


def test_bad_messages_get_errors_and_too_many_end_the_call() -> None:
    async def script(talk: Talk) -> None:
        await talk.ready()
        for bad in (b"bytes", "no JSON", "[]"):
            talk.channel.receive(bad)
        talk.send("nonsense")
        assert len(talk.channel.told("error")) == 3
        assert len(talk.channel.told("error-response")) == 1
        for _ in range(20):
            talk.send("nonsense")
        assert talk.channel.told("error")[-1]["data"]["fatal"] is True
        assert talk.channel.told("signalling")[0]["message"] == {"type": "peerLeft"}
        await talk.until(lambda: talk.over)

    play(script)


def test_a_flood_of_messages_ends_the_call() -> None:
    async def script(talk: Talk) -> None:
        await talk.ready()
        for _ in range(1_000):
            talk.send("dtmf", {"buttons": ["1"]})
        await talk.until(lambda: talk.over)

    play(script)


def test_a_client_that_leaves_or_is_never_ready_is_forgotten() -> None:
    async def lost(talk: Talk) -> None:
        await talk.ready()
        talk.peer_call.move_to(PathPlace.LOST)
        await talk.until(lambda: talk.over)

    async def silent(talk: Talk) -> None:
        await talk.until(lambda: talk.over)
        assert talk.channel.told("error")[0]["data"]["fatal"] is True

    assert play(lost).over == play(silent).over == 1


def test_a_client_that_reads_nothing_is_left() -> None:
    async def script(talk: Talk) -> None:
        await talk.ready()
        talk.channel.bufferedAmount = 1 << 30
        talk.send("send-text", {"content": "hi"})
        await talk.until(lambda: talk.over)

    play(script)


def test_the_agent_leaves_when_the_client_asks_for_it() -> None:
    async def script(talk: Talk) -> None:
        await talk.ready()
        talk.send("disconnect-bot", {})
        await talk.until(lambda: talk.over)
        assert talk.channel.told("signalling")

    play(script)
