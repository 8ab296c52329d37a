"""The scripted Realtime server is strict, and the official client gets along with it."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from openai import AsyncOpenAI
from websockets.asyncio.client import connect

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.testing.realtime.server import (
    CallTool,
    RealtimeServer,
    Speak,
)
from tests.limits import WAIT_S


def talk(*events: dict[str, Any], server: RealtimeServer) -> RealtimeServer:
    """Send these and wait for an answer to the last one."""

    async def run() -> RealtimeServer:
        async with server, connect(server.url, max_queue=None) as socket:
            for event in events:
                await socket.send(json.dumps(event))
            await socket.send(json.dumps({"type": "input_audio_buffer.clear"}))
            await server.until(lambda: server.gave("input_audio_buffer.cleared"))
        return server

    return run_jumping(run())


def test_a_client_that_breaks_the_protocol_fails_its_test() -> None:
    with pytest.raises(AssertionError, match="modalities: unknown field"):
        talk({"type": "response.create", "response": {"modalities": []}}, server=RealtimeServer())


# -- The official client


@pytest.mark.req("L-24")
def test_the_official_client_holds_a_whole_turn() -> None:
    async def run() -> tuple[list[str], str, bytes, str]:
        script = [
            [Speak("It is sunny.", ms=200), CallTool("look", {"place": "Rome"}, "call_1")],
            Speak("Anything else?", ms=400),
        ]
        async with asyncio.timeout(WAIT_S), RealtimeServer(script) as server:
            http = server.url.replace("ws://", "http://").removesuffix("/realtime")
            client = AsyncOpenAI(api_key="sk-test", base_url=http)
            seen, words, sound, call = [], "", b"", ""
            async with client.realtime.connect(model="gpt-realtime") as connection:
                await connection.session.update(session={"type": "realtime", "output_modalities": ["audio"]})
                item: Any = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
                await connection.conversation.item.create(item=item)
                await connection.response.create()
                async for event in connection:
                    seen.append(event.type)
                    if event.type == "response.output_audio_transcript.delta":
                        words += event.delta
                    elif event.type == "response.output_audio.delta":
                        sound += base64.b64decode(event.delta)
                    elif event.type == "response.function_call_arguments.done":
                        call = f"{event.call_id}: {event.arguments}"
                        output: Any = {"type": "function_call_output", "call_id": event.call_id, "output": "sunny"}
                        await connection.conversation.item.create(item=output)
                    elif event.type == "response.done":
                        if seen.count("response.done") == 2:
                            break
                        await connection.response.create()
            assert server.handshakes[0].headers["Authorization"] == "Bearer sk-test"
            return seen, words, sound, call

    seen, words, sound, call = run_jumping(run())
    assert seen[0] == "session.created"
    assert seen.index("session.updated") < seen.index("response.created") < seen.index("response.done")
    assert words == "It is sunny. Anything else? "
    assert len(sound) == (200 + 400) * 48
    assert call == 'call_1: {"place": "Rome"}'
    assert "error" not in seen
