"""Every field of an event is checked against the Realtime protocol."""

from __future__ import annotations

import asyncio
import base64
import copy
import json
from typing import Any

import pytest
from openai.types.realtime import RealtimeClientEvent
from websockets.asyncio.client import connect

from duologue.testing.realtime.protocol_types import problems_of_client_event, problems_of_server_event
from duologue.testing.realtime.server import (
    BreakDown,
    CallTool,
    RealtimeServer,
    Speak,
    WriteText,
)

CLIENT_EVENTS: list[dict[str, Any]] = [
    {"type": "session.update", "session": {"type": "realtime", "instructions": "Be brief."}},
    {"type": "input_audio_buffer.append", "audio": "AAAA"},
    {"type": "input_audio_buffer.commit"},
    {"type": "input_audio_buffer.clear"},
    {"type": "output_audio_buffer.clear"},
    {
        "type": "conversation.item.create",
        "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
    },
    {"type": "conversation.item.retrieve", "item_id": "i"},
    {"type": "conversation.item.truncate", "item_id": "i", "content_index": 0, "audio_end_ms": 5},
    {"type": "conversation.item.delete", "item_id": "i"},
    {"type": "response.create", "response": {"metadata": {"a": "b"}}},
    {"type": "response.cancel", "response_id": "r"},
]


def kind_of(event: Any) -> str:
    return str(event["type"]) if isinstance(event, dict) else ""


@pytest.mark.parametrize("event", CLIENT_EVENTS, ids=kind_of)
def test_one_wrong_field_in_any_client_event_is_noticed(event: dict[str, Any]) -> None:
    assert problems_of_client_event({"event_id": "e", **event}) == []
    assert problems_of_client_event({**event, "voice": "alloy"}) == ["voice: unknown field"]
    for name in event:
        if name not in ("response", "response_id"):  # those may be left out
            rest = {key: value for key, value in event.items() if key != name}
            assert problems_of_client_event(rest), f"without {name}"
        assert problems_of_client_event({**event, name: 7.5}), f"{name} is a number"


def test_every_kind_of_client_event_was_tried() -> None:
    from typing import get_args

    union = get_args(get_args(RealtimeClientEvent)[0])
    kinds = {get_args(model.model_fields["type"].annotation)[0] for model in union}
    assert {event["type"] for event in CLIENT_EVENTS} == kinds


@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({"type": "session.update", "session": {"type": "realtime", "modalities": ["text"]}}, "session.modalities"),
        (
            {"type": "session.update", "session": {"type": "realtime", "audio": {"input": {"turn_detection": {}}}}},
            "turn_detection",
        ),
        (
            {
                "type": "conversation.item.create",
                "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "tex": "x"}]},
            },
            "item.content.0.tex",
        ),
        ({"type": "response.create", "response": {"modalities": ["audio"]}}, "response.modalities"),
        ({"type": "response.audio.delta"}, ""),
        ({"type": "conversation.item.truncate", "item_id": "i", "content_index": "0", "audio_end_ms": 5}, "content"),
    ],
)
def test_a_wrong_field_deep_inside_is_noticed_with_its_path(event: dict[str, Any], path: str) -> None:
    problems = problems_of_client_event(event)
    assert problems
    assert path in problems[0]


def test_one_wrong_field_in_any_server_event_is_noticed() -> None:
    """On real traffic: every kind of event that a whole conversation brings."""

    async def run() -> dict[str, dict[str, Any]]:
        script = [[Speak("Hello there.", ms=200), CallTool("look", {"a": 1})], WriteText("Bye."), BreakDown()]
        async with (
            RealtimeServer(script, hears=["hello"]) as server,
            connect(f"{server.url}?model=m", max_queue=None) as socket,
        ):
            detection = {"type": "server_vad", "silence_duration_ms": 100}
            audio = {"input": {"turn_detection": detection, "transcription": {"model": "whisper-1"}}}
            loud = base64.b64encode(b"\x00\x20" * 4_800).decode()
            quiet = base64.b64encode(bytes(9_600)).decode()
            for event in (
                {"type": "session.update", "session": {"type": "realtime", "audio": audio}},
                {"type": "input_audio_buffer.append", "audio": loud},
                {"type": "input_audio_buffer.append", "audio": quiet},
                {"type": "input_audio_buffer.clear"},
                {"type": "response.cancel"},
            ):
                await socket.send(json.dumps(event))
            for number in range(3):
                await socket.send(json.dumps({"type": "response.create"}))
                await server.until(lambda number=number: len(server.gave("response.done")) == number + 1)
            spoken = server.session.items[1]["id"]
            where = {"item_id": spoken, "content_index": 0, "audio_end_ms": 100}
            await socket.send(json.dumps({"type": "conversation.item.truncate", **where}))
            await socket.send(json.dumps({"type": "conversation.item.delete", "item_id": spoken}))
            await server.until(lambda: server.gave("conversation.item.deleted"))
            return {event["type"]: event for event in server.sent}

    events = asyncio.run(run())
    assert len(events) >= 26, sorted(events)
    for kind, event in events.items():
        assert problems_of_server_event(event) == [], kind
        assert problems_of_server_event({**event, "flavour": 1}), kind
        for name in set(event) - {"previous_item_id", "content_index", "delta", "event_id"}:
            rest = {key: value for key, value in event.items() if key != name}
            assert problems_of_server_event(rest), f"{kind} without {name}"
        for name, value in event.items():
            if isinstance(value, dict):
                odd = copy.deepcopy(event)
                odd[name]["flavour"] = 1
                assert problems_of_server_event(odd), f"{kind}: {name} with something in it"
        assert problems_of_server_event({**event, "event_id": 5}), kind
