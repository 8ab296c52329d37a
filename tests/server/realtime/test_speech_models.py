"""An agent whose brain is a speech-to-speech model, behind this protocol: its clients notice no difference.

The model's server is scripted and strict: at the end of a test it complains of anything that broke its protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from duologue import Agent, profile
from duologue.brains.realtime import RealtimeModel
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.server.realtime.routes import realtime_routes
from duologue.testing.realtime.server import CallTool, RealtimeServer, Speak
from tests.limits import TEST_S
from tests.server.realtime.client_script import WEATHER, words_of
from tests.server.realtime.test_bad_input import TOKEN, Caller, caller
from tests.server.running_server import running_server

SETTINGS = replace(profile("confirm"), session_ms_max=0, session_warning_ms=0, dead_air_ms=0)
LONG = "There are two flights today and one of them leaves very early in the morning."


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def talk(model: RealtimeServer, script: Callable[[Caller], Awaitable[None]]) -> None:
    """Let a client of the Realtime protocol talk with an agent behind which this model is."""

    async def whole() -> None:
        async with model:

            def make() -> Agent:
                return Agent(RealtimeModel(url=model.url), name="Ada", profile=SETTINGS)

            async with running_server(make, token=TOKEN) as made:
                made.server.add_routes(realtime_routes(made.server))
                async with caller(made) as client:
                    await script(client)

    run_jumping(asyncio.wait_for(whole(), TEST_S))


async def done(client: Caller, count: int) -> dict[str, Any]:
    response: dict[str, Any] = (await client.until("response.done", count))["response"]
    return response


@pytest.mark.req("L-24")
def test_a_client_talks_interrupts_and_runs_a_function_of_a_speech_model() -> None:
    model = RealtimeServer(
        [
            Speak("Good morning to you."),
            Speak(LONG, ms=8_000, paced=True),
            [CallTool("get_weather", {"city": "Rome"})],
            Speak("It is sunny."),
        ],
        hears=["good morning", "which flights are there", "no wait what about the weather"],
    )

    async def script(client: Caller) -> None:
        await client.send("session.update", session={"type": "realtime", "tools": [WEATHER]})
        await client.speak()
        assert words_of(await done(client, 1)) == "Good morning to you."
        await asyncio.sleep(1)
        await client.speak()
        await client.until("response.output_audio.delta", len(client.told("response.output_audio.delta")) + 5)
        await asyncio.sleep(1)
        await client.speak()
        assert (await done(client, 2))["status_details"]["reason"] == "turn_detected"
        cut = await client.until("conversation.item.truncated")
        assert 500 < cut["audio_end_ms"] < 8_000
        made = await client.until("response.function_call_arguments.done")
        output = {"type": "function_call_output", "call_id": made["call_id"], "output": "sunny"}
        await client.send("conversation.item.create", item=output)
        await client.send("response.create")
        await client.until("response.output_audio_transcript.done", 3)
        assert client.told("response.output_audio_transcript.done")[-1]["transcript"] == "It is sunny."
        assert client.told("error") == []
        (truncated,) = model.got("conversation.item.truncate")
        assert abs(truncated["audio_end_ms"] - cut["audio_end_ms"]) <= 500

    talk(model, script)


def test_what_a_running_model_cannot_change_is_refused_by_name_and_the_call_goes_on() -> None:
    model = RealtimeServer(otherwise=Speak("Indeed."), hears=["good morning", "is that so"])

    async def script(client: Caller) -> None:
        await client.speak()
        await done(client, 1)
        vad = {"type": "server_vad", "silence_duration_ms": 300}
        for number, (fields, param) in enumerate(
            (
                ({"instructions": "Be brief."}, "instructions"),
                ({"tools": [WEATHER]}, "tools"),
                ({"audio": {"input": {"turn_detection": vad}}}, "audio.input.turn_detection"),
            ),
            1,
        ):
            await client.send("session.update", session={"type": "realtime", **fields})
            error = (await client.until("error", number))["error"]
            assert (error["code"], error["param"]) == ("unsupported_parameter", f"session.{param}")
        await asyncio.sleep(1)
        await client.speak()
        assert words_of(await done(client, 2)) == "Indeed."
        await client.send("response.create")
        assert words_of(await done(client, 3)) == "Indeed.", "also without anything new"

    talk(model, script)
