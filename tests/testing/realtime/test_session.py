"""A session of the scripted Realtime server: errors, faults and items."""

from __future__ import annotations

import json
from typing import Any

from websockets.asyncio.client import connect

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.testing.realtime.server import (
    FallSilent,
    ProtocolFault,
    RealtimeServer,
)


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


def errors(server: RealtimeServer) -> list[tuple[str, str]]:
    told = [event["error"] for event in server.gave("error")]
    return [(error["code"], error.get("event_id", "")) for error in told]


def test_errors_name_the_event_that_caused_them() -> None:
    server = RealtimeServer([FallSilent()])
    server.allows_problems = True
    talk(
        {"type": "response.cancel", "event_id": "a"},
        {"type": "response.create", "event_id": "b"},
        {"type": "response.create", "event_id": "c"},
        {"type": "input_audio_buffer.commit", "event_id": "d"},
        {"type": "conversation.item.truncate", "event_id": "e", "item_id": "x", "content_index": 0, "audio_end_ms": 1},
        {"type": "conversation.item.delete", "event_id": "f", "item_id": "x"},
        {
            "type": "conversation.item.create",
            "event_id": "g",
            "item": {"type": "function_call_output", "call_id": "nobody", "output": ""},
        },
        server=server,
    )
    assert errors(server) == [
        ("response_cancel_not_active", "a"),
        ("conversation_already_has_active_response", "c"),
        ("input_audio_buffer_commit_empty", "d"),
        ("invalid_value", "e"),
        ("item_delete_invalid_item_id", "f"),
        ("invalid_value", "g"),
    ]


def test_faults_happen_as_often_as_they_are_asked_for() -> None:
    cleared = {"type": "input_audio_buffer.clear"}
    faults = [
        ProtocolFault("dropped", "input_audio_buffer.cleared", times=2),
        ProtocolFault("refused", "response.create", code="rate"),
    ]
    server = talk(cleared, cleared, {"type": "response.create", "event_id": "a"}, server=RealtimeServer(faults=faults))
    assert errors(server) == [("rate", "a")]
    assert len(server.gave("input_audio_buffer.cleared")) == 1
    assert server.faults == []
