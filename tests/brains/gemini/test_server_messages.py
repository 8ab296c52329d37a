"""Messages of the server become values; what makes no sense is reported as such."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from duologue.brains.gemini import server_messages as sm
from duologue.ports.tool_call import ToolCall
from duologue.ports.usage import Usage


def read(message: Any) -> list[sm.Came]:
    return sm.read(json.dumps(message))


def content(**fields: Any) -> list[sm.Came]:
    return read({"serverContent": fields})


def sound(mime: str = "audio/pcm;rate=24000", data: str = "AAAA", **more: Any) -> list[sm.Came]:
    return content(modelTurn={"role": "model", "parts": [{"inlineData": {"mimeType": mime, "data": data}, **more}]})


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"setupComplete": {}}, [sm.SetupAccepted()]),
        ({"serverContent": {"inputTranscription": {"text": " hi"}}}, [sm.UserTranscribed(" hi")]),
        (
            {"serverContent": {"inputTranscription": {"text": "", "finished": True}}},
            [sm.UserTranscribed("", is_final=True)],
        ),
        ({"serverContent": {"outputTranscription": {"text": "hello"}}}, [sm.ModelWords("hello")]),
        ({"serverContent": {"generationComplete": True}}, [sm.AnswerGenerated()]),
        ({"serverContent": {"interrupted": True}}, [sm.AnswerInterrupted()]),
        (
            {"serverContent": {"turnComplete": True, "turnCompleteReason": "RESPONSE_REJECTED"}},
            [sm.ModelTurnEnded("RESPONSE_REJECTED")],
        ),
        (
            {"toolCall": {"functionCalls": [{"id": "1", "name": "f", "args": {"a": 1}}, {"id": "2", "name": "g"}]}},
            [sm.ModelCalls((ToolCall("f", {"a": 1}, "1"), ToolCall("g", {}, "2")))],
        ),
        ({"toolCallCancellation": {"ids": ["1"]}}, [sm.CallsCancelled(("1",))]),
        ({"goAway": {"timeLeft": "9.5s"}}, [sm.GoingAway(9_500)]),
        ({"goAway": {}}, [sm.GoingAway(0)]),
        ({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}, [sm.HandleChanged("h")]),
        ({"sessionResumptionUpdate": {"newHandle": "h", "resumable": False}}, [sm.HandleChanged("")]),
        (
            {"usageMetadata": {"promptTokenCount": 9, "responseTokenCount": 4, "thoughtsTokenCount": 2}},
            [sm.ModelUsage(Usage(input_tokens=9, output_tokens=6))],
        ),
        (
            {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "words"}},
            [sm.ServerFault(429, "RESOURCE_EXHAUSTED")],
        ),
        ({"voiceActivity": {}}, []),
        ({"serverContent": {"waitingForInput": True, "groundingMetadata": {}}}, []),
    ],
)
def test_each_message_has_its_value(message: Any, expected: list[sm.Came]) -> None:
    assert read(message) == expected


def test_one_message_can_hold_several() -> None:
    found = read(
        {
            "serverContent": {"outputTranscription": {"text": "bye"}, "generationComplete": True, "turnComplete": True},
            "usageMetadata": {"promptTokenCount": 1},
        }
    )
    assert [type(one) for one in found] == [sm.ModelWords, sm.AnswerGenerated, sm.ModelTurnEnded, sm.ModelUsage]


def test_sound_is_pcm_at_24_khz_and_nothing_else() -> None:
    pcm = base64.b64decode("AAAA")
    assert sound() == [sm.ModelSound(pcm)]
    assert sound("audio/pcm") == [sm.ModelSound(pcm)]
    assert sound("audio/mpeg") == sound("audio/pcm;rate=16000") == [sm.WrongSound()]
    assert sound(thought=True) == [], "what the model thinks isn't said"
    assert content(modelTurn={"parts": [{"text": "said in the transcript too"}]}) == []


@pytest.mark.parametrize(
    "message",
    [
        {"serverContent": 7},
        {"serverContent": {"modelTurn": {"parts": [7]}}},
        {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": "%"}}]}}},
        {"serverContent": {"outputTranscription": {"text": 7}}},
        {"toolCall": {"functionCalls": [{"name": ""}]}},
        {"toolCall": {"functionCalls": [{"name": "f", "args": "x"}]}},
        {"toolCallCancellation": {"ids": [7]}},
        {"goAway": {"timeLeft": 7}},
        {"sessionResumptionUpdate": {"resumable": True, "newHandle": 7}},
        {"usageMetadata": {"promptTokenCount": "many"}},
        {"error": []},
    ],
)
def test_a_wrong_field_makes_a_message_unreadable(message: dict[str, Any]) -> None:
    assert read(message) == [sm.UnreadablePart(next(iter(message)))]


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", b"\xff", "[" * 100_000])
def test_what_is_no_message_is_unreadable(text: str | bytes) -> None:
    assert sm.read(text) == [sm.UnreadablePart("")]


def test_what_is_new_is_unknown() -> None:
    assert read({"mood": {}}) == [sm.UnknownPart("mood")]
    assert content(mood="good", turnComplete=True) == [sm.UnknownPart("serverContent.mood"), sm.ModelTurnEnded()]
