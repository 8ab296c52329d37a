"""The scripted session is as strict as the protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest
from websockets.asyncio.client import connect

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.testing.gemini import CallTool, GeminiServer, Speak

SETUP = {
    "setup": {
        "model": "models/m",
        "inputAudioTranscription": {},
        "sessionResumption": {},
        "realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}},
    }
}
AUDIO = {"realtimeInput": {"audio": {"mimeType": "audio/pcm;rate=16000", "data": "AAAA"}}}
BEGIN: dict[str, Any] = {"realtimeInput": {"activityStart": {}}}
END: dict[str, Any] = {"realtimeInput": {"activityEnd": {}}}
ASK = {"clientContent": {"turns": [{"role": "user", "parts": [{"text": "hi"}]}], "turnComplete": True}}


def talk(*messages: dict[str, Any], server: GeminiServer | None = None) -> GeminiServer:
    """Send these, and wait until an answer has ended or the protocol was broken."""

    async def run() -> GeminiServer:
        async with server or GeminiServer() as running, connect(running.url, max_queue=None) as socket:
            for message in messages:
                await socket.send(json.dumps(message))
            await running.until(lambda: running.problems or running.gave("serverContent", "turnComplete"))
        return running

    return run_jumping(run())


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([ASK], "first message"),
        ([SETUP, SETUP], "first message"),
        ([{"setup": {"model": "m"}}], "must decide about turns"),
        ([SETUP, AUDIO], "audio outside an activity"),
        ([SETUP, END], "activityEnd outside an activity"),
        ([SETUP, BEGIN, BEGIN], "second activityStart"),
        ([SETUP, BEGIN, ASK], "inside an activity"),
        (
            [SETUP, {"toolResponse": {"functionResponses": [{"id": "x", "name": "f", "response": {}}]}}],
            "doesn't wait",
        ),
        ([SETUP, {"clientContent": {"turns": [{"role": "system", "parts": [{"text": "x"}]}]}}], "role 'system'"),
    ],
)
def test_a_client_that_breaks_the_protocol_fails_its_test(messages: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        talk(*messages)


def test_a_turn_is_transcribed_answered_and_can_be_resumed() -> None:
    server = talk(SETUP, BEGIN, AUDIO, END, server=GeminiServer([Speak("Hello you.", ms=200)], hears=["hi there"]))
    words = [one["text"] for one in server.gave("serverContent", "inputTranscription")]
    assert words == [" hi", " there"]
    assert "".join(one["text"] for one in server.gave("serverContent", "outputTranscription")) == "Hello you. "
    assert len(server.gave("serverContent", "modelTurn")) == 2
    assert server.gave("serverContent", "generationComplete") == [True]


def test_an_activity_interrupts_the_answer_and_cancels_calls() -> None:
    async def run() -> GeminiServer:
        script = [CallTool("f"), Speak("long", ms=60_000, paced=True)]
        async with GeminiServer(script) as server, connect(server.url, max_queue=None) as socket:
            for message in (SETUP, ASK):
                await socket.send(json.dumps(message))
            await server.until(lambda: server.gave("toolCall"))
            await socket.send(json.dumps(ASK))
            await server.until(lambda: server.gave("serverContent", "modelTurn"))
            await socket.send(json.dumps(BEGIN))
            await server.until(lambda: server.gave("serverContent", "turnComplete"))
        return server

    server = run_jumping(run())
    assert server.gave("toolCallCancellation") == [{"ids": ["call-1-1"]}]
    assert server.gave("serverContent", "interrupted") == [True]
    assert server.gave("serverContent", "generationComplete") == []
