"""Every field of a message is checked against the Live protocol."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.testing.gemini.protocol_types import (
    in_camel_case,
    problems_of_client_message,
    problems_of_server_message,
)

CLIENT: list[dict[str, Any]] = [
    {"setup": {"model": "models/m", "realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}},
    {"clientContent": {"turns": [{"role": "user", "parts": [{"text": "hi"}]}], "turnComplete": True}},
    {"realtimeInput": {"audio": {"mimeType": "audio/pcm;rate=16000", "data": "AAAA"}}},
    {"realtimeInput": {"activityStart": {}}},
    {"toolResponse": {"functionResponses": [{"id": "1", "name": "f", "response": {"output": "x"}}]}},
    {"contextUpdate": {"systemInstruction": {"parts": [{"text": "x"}]}, "tools": {"tools": []}}},
]
SERVER: list[dict[str, Any]] = [
    {"setupComplete": {"sessionId": "s"}},
    {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}]}}},
    {"serverContent": {"turnComplete": True}, "usageMetadata": {"promptTokenCount": 1}},
    {"serverContent": {"interrupted": True}},
    {"toolCall": {"functionCalls": [{"id": "1", "name": "f", "args": {}}]}},
    {"toolCallCancellation": {"ids": ["1"]}},
    {"goAway": {"timeLeft": "5s"}},
    {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}},
]


def wrong_versions(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The message with an unknown field at its top, one inside, and one that is a number."""
    ((name, value), *_) = message.items()
    inner = next(iter(value), None)
    found = [{**message, name: {**value, "flavour": 1}}, {**message, name: 7.5}]
    return [*found, {**message, name: {**value, inner: 7.5}}] if inner is not None else found


@pytest.mark.parametrize("message", CLIENT, ids=lambda one: "-".join(one))
def test_one_wrong_field_in_any_client_message_is_noticed(message: dict[str, Any]) -> None:
    assert problems_of_client_message(message) == []
    for wrong in wrong_versions(message):
        assert problems_of_client_message(wrong), wrong


@pytest.mark.parametrize("message", SERVER, ids=lambda one: "-".join(one))
def test_one_wrong_field_in_any_server_message_is_noticed(message: dict[str, Any]) -> None:
    assert problems_of_server_message(message) == []
    for wrong in (*wrong_versions(message), {**message, "mood": {}}):
        assert problems_of_server_message(wrong), wrong


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"setup": {"model": "m", "modalities": ["AUDIO"]}}, "setup.modalities"),
        ({"setup": {"realtimeInputConfig": {"vad": False}}}, "setup.realtimeInputConfig.vad"),
        ({"setup": {"generationConfig": {"responseModalities": ["SMELL"]}}}, "SMELL is not a valid Modality"),
        ({"setup": {"tools": [{"functionDeclarations": [{"nam": "f"}]}]}}, "nam"),
        (
            {"clientContent": {"turns": [{"role": "user", "parts": [{"tex": "x"}]}]}},
            "clientContent.turns.0.parts.0.tex",
        ),
        ({"clientContent": {"turnComplete": 1}}, "clientContent.turnComplete"),
        ({"realtime_input": {"activity_start": {}}}, "realtime_input"),
        ({"realtimeInput": {"audio": {"mimeType": "audio/pcm", "data": "%%"}}}, "realtimeInput.audio.data"),
        ({}, "exactly one part"),
        ({"setup": {}, "clientContent": {}}, "exactly one part"),
        ([], "exactly one part"),
    ],
)
def test_a_wrong_field_deep_inside_is_noticed_with_its_path(message: Any, path: str) -> None:
    problems = problems_of_client_message(message)
    assert problems
    assert path in problems[0]


def test_names_with_underscores_mean_the_same_but_not_those_of_arguments() -> None:
    given = {"tool_response": {"function_responses": [{"name": "f", "response": {"my_field": 1}}]}}
    assert in_camel_case(given) == {"toolResponse": {"functionResponses": [{"name": "f", "response": {"my_field": 1}}]}}
