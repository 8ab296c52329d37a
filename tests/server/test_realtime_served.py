"""A Realtime model behind the real server: a client speaks the panel's protocol and notices no difference.

The model's server is scripted and strict: at the end of a test it complains of anything that broke its protocol.
"""

from __future__ import annotations

import asyncio
import json
import math
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from duologue import Agent, Phrases, profile, tool
from duologue.brains.realtime import RealtimeModel
from duologue.core import effects as fx
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.replay.journal import read_journal, replay
from duologue.testing.realtime.server import CallTool, RealtimeServer, Speak
from tests.limits import TEST_S
from tests.server.running_server import Client, RunningServer, running_server

SETTINGS = replace(profile("confirm"), session_ms_max=0, session_warning_ms=0, dead_air_ms=0)
LONG = "There are two flights today and one of them leaves very early in the morning."
RATE_HZ, FRAME = 16_000, 512


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@tool
def look_up(place: str) -> str:
    """Look up the weather."""
    return f"sunny in {place}"


@asynccontextmanager
async def served(model: RealtimeServer) -> AsyncIterator[RunningServer]:
    def make() -> Agent:
        brain = RealtimeModel(url=model.url)
        return Agent(brain, name="Ada", tools=[look_up], phrases=Phrases(greeting="Good day!"), profile=SETTINGS)

    async with asyncio.timeout(TEST_S), model, running_server(make) as made:
        yield made


async def say(client: Client, model: RealtimeServer, text: str) -> None:
    """Sound from a microphone, as the panel sends it; the model's server hears these words in it."""
    model.hears.append(text)
    wave = array("h", (round(6_000 * math.sin(2 * math.pi * 200 * at / RATE_HZ)) for at in range(FRAME)))
    for frame in (wave.tobytes(),) * 10 + (bytes(FRAME * 2),) * 20:
        await client.raw_send(frame)
        await asyncio.sleep(FRAME / RATE_HZ / 4)


def heard_ms(client: Client) -> int:
    return sum(client.heard_ms.values())


@pytest.mark.req("L-06", "L-07", "L-24", "C-INT-003", "V-04")
def test_a_whole_call_with_a_realtime_model_over_the_panels_protocol() -> None:
    script = [
        Speak("Good morning to you."),
        Speak(LONG, ms=8_000, paced=True),
        [CallTool("look_up", {"place": "Rome"})],
        Speak("It is sunny."),
    ]

    async def run() -> None:
        model = RealtimeServer(script)
        async with served(model) as made:
            client = await made.connect()
            began = await client.begin("alice")
            ready = client.told("ready")[0]
            assert ready["agent"] == {"name": "Ada", "hears": True, "speaks": True, "suggestions": []}
            await client.until(lambda: client.heard == "Good day!", "the greeting, in the model's own voice")

            await say(client, model, "good morning")
            await client.expect("caption", role="assistant", final=True, text="Good morning to you.")
            assert client.told("caption", role="user", final=True, text="good morning")
            assert client.told("hearing", on=True)
            assert client.frames, "its sound reached the page"

            before = heard_ms(client)
            await say(client, model, "which flights are there")
            await client.until(lambda: heard_ms(client) > before + 700, "the long answer")
            await say(client, model, "no wait what about the weather")
            cut = await client.expect("turn", event="turn-interrupted")
            assert cut["role"] == "assistant"
            assert (await client.expect("play", action="clear"))["voice"]
            await client.expect("caption", role="assistant", final=True, text="It is sunny.")
            (told,) = [t for t in client.told("caption", role="assistant", final=True) if t["unheard"]]
            assert LONG.startswith(told["text"])
            (truncated,) = model.got("conversation.item.truncate")
            assert 0 < truncated["audio_end_ms"] < 8_000
            assert client.told("work", event="ended", tool="look_up")[0]["outcome"] == "done"
            assert client.told("decision", decision="barge_in")
            await client.until(lambda: client.told("state")[-1]["state"] == "listening", "rest")

            await client.send("end")
            await client.expect("ended")
            await _replays(made, began["conversation"], began["key"])
            assert not client.told("error")

    run_jumping(run())


async def _replays(made: RunningServer, conversation: str, key: str) -> None:
    """The journal comes down, holds no word, and every step of it agrees."""
    answer = await made.get(f"/conversations/{conversation}/journal", X_Conversation_Key=key)
    assert answer.status == 200
    text = answer.body.decode()
    assert "weather" not in text
    records = list(replay(read_journal(text.splitlines(keepends=True))))
    assert records[-1].after.link.value == "idle"
    assert any(type(effect) is fx.StartReply for record in records for effect in record.effects)
    replayed = json.loads((await made.get("/debug/replay", answer.body)).body)
    assert replayed["agrees"] is True
    assert replayed["events"] == len(records)


@pytest.mark.req("L-22", "L-24")
def test_a_call_with_a_realtime_model_is_watched_like_any_other() -> None:
    async def run() -> None:
        model = RealtimeServer([Speak("Good morning to you.")])
        async with served(model) as made:
            client, watcher = await made.connect(), await made.connect()
            await client.begin("alice")
            await watcher.hello("operator")
            await watcher.send("calls")
            (call,) = (await watcher.expect("calls"))["calls"]
            assert (call["line"], call["agent"]) == ("browser", "Ada")
            await watcher.send("watch", id=call["id"])
            await watcher.send("debug", on=True)
            await watcher.expect("debug")
            await say(client, model, "good morning")
            await watcher.expect("caption", role="assistant", final=True, text="Good morning to you.")
            await watcher.expect("moment", event="TokenArrived")
            assert watcher.frames == []
            await client.send("end")
            await watcher.expect("ended", canRestart=False)

    run_jumping(run())


def test_each_client_has_its_own_model() -> None:
    async def run() -> None:
        model = RealtimeServer(otherwise=Speak("Indeed."))
        async with served(model) as made:
            clients = [await made.connect(), await made.connect()]
            for number, client in enumerate(clients):
                await client.begin(f"seat {number}")
            assert len(model.sessions) == 2
            for client in clients:
                await say(client, model, "is that so")
                await client.expect("caption", role="assistant", final=True, text="Indeed.")

    run_jumping(run())
