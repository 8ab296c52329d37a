"""A scripted response sends its parts in the order of the protocol, and ends with one `response.done`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from websockets.asyncio.client import connect

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.testing.realtime import BreakDown, CallTool, FallSilent, RealtimeServer, Speak, WriteText


def respond(script: list[Any], *more: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of the server up to the end of one response."""

    async def run() -> list[dict[str, Any]]:
        async with RealtimeServer([script]) as server, connect(server.url, max_queue=None) as socket:
            await socket.send(json.dumps({"type": "response.create"}))
            await server.until(lambda: server.gave("response.created"))
            for event in more:
                await socket.send(json.dumps(event))
            await server.until(lambda: server.gave("response.done"))
            return server.sent

    return run_jumping(run())


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


def test_speech_comes_in_chunks_with_its_transcript() -> None:
    events = respond([Speak("It is sunny.", ms=300, chunk_ms=100)])
    assert len(of(events, "response.output_audio.delta")) == 3
    words = "".join(event["delta"] for event in of(events, "response.output_audio_transcript.delta"))
    assert words.split() == ["It", "is", "sunny."]
    (done,) = of(events, "response.done")
    assert done["response"]["status"] == "completed"


def test_text_and_a_call_are_two_items_in_order() -> None:
    (done,) = of(respond([WriteText("One moment."), CallTool("look", {"place": "Rome"})]), "response.done")
    text, call = done["response"]["output"]
    assert text["content"][0]["text"] == "One moment."
    assert (call["name"], json.loads(call["arguments"])) == ("look", {"place": "Rome"})


@pytest.mark.parametrize(
    ("script", "more", "status"),
    [([BreakDown("rate_limit")], [], "failed"), ([FallSilent()], [{"type": "response.cancel"}], "cancelled")],
)
def test_a_response_that_fails_or_is_cancelled_has_one_end(
    script: list[Any], more: list[dict[str, Any]], status: str
) -> None:
    (done,) = of(respond(script, *more), "response.done")
    assert done["response"]["status"] == status
