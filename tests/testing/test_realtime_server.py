"""The scripted Realtime server is strict, and the official client gets along with it."""

from __future__ import annotations

import asyncio
import base64
import copy
import json
from typing import Any

import pytest
from openai import AsyncOpenAI
from openai.types.realtime import RealtimeClientEvent
from websockets.asyncio.client import connect

from duologue.testing.realtime.protocol_types import problems_of_client_event, problems_of_server_event
from duologue.testing.realtime.server import (
    BreakDown,
    CallTool,
    FallSilent,
    ProtocolFault,
    RealtimeServer,
    Speak,
    WriteText,
)

WAIT_S = 20


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


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
OF_ITEM = {"response_id": "r", "item_id": "i", "output_index": 0, "content_index": 0}


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


def talk(*events: dict[str, Any], server: RealtimeServer) -> RealtimeServer:
    """Send these and wait for an answer to the last one."""

    async def run() -> RealtimeServer:
        async with server, connect(server.url, max_queue=None) as socket:
            for event in events:
                await socket.send(json.dumps(event))
            await socket.send(json.dumps({"type": "input_audio_buffer.clear"}))
            await server.until(lambda: server.gave("input_audio_buffer.cleared"))
        return server

    return asyncio.run(run())


def errors(server: RealtimeServer) -> list[tuple[str, str]]:
    told = [event["error"] for event in server.gave("error")]
    return [(error["code"], error.get("event_id", "")) for error in told]


def test_a_client_that_breaks_the_protocol_fails_its_test() -> None:
    with pytest.raises(AssertionError, match="modalities: unknown field"):
        talk({"type": "response.create", "response": {"modalities": []}}, server=RealtimeServer())


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

    seen, words, sound, call = asyncio.run(run())
    assert seen[0] == "session.created"
    assert seen.index("session.updated") < seen.index("response.created") < seen.index("response.done")
    assert words == "It is sunny. Anything else? "
    assert len(sound) == (200 + 400) * 48
    assert call == 'call_1: {"place": "Rome"}'
    assert "error" not in seen
