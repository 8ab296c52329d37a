"""Every event of the protocol is read or ignored on purpose, and malformed ones do no harm."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from openai.types.realtime import RealtimeServerEvent

from duologue.brains.realtime import server_events as hp
from duologue.ports import ToolCall

OF_ITEM = {"response_id": "r", "item_id": "i", "output_index": 0, "content_index": 0}


CALL = {"id": "i", "type": "function_call", "name": "look", "arguments": '{"a": 1}', "call_id": "c"}


@pytest.mark.req("L-24")
@pytest.mark.parametrize(
    ("event", "means"),
    [
        ({"type": "session.created", "session": {"expires_at": 99}}, hp.SessionBegan(99)),
        ({"type": "session.updated", "session": {}}, hp.SessionChanged()),
        ({"type": "input_audio_buffer.speech_started", "item_id": "i"}, hp.SpeechOn("i")),
        ({"type": "input_audio_buffer.speech_stopped", "item_id": "i"}, hp.SpeechOff("i")),
        ({"type": "input_audio_buffer.committed", "item_id": "i"}, hp.AudioCommitted("i")),
        (
            {"type": "conversation.item.input_audio_transcription.delta", "item_id": "i", "delta": "he"},
            hp.Transcribing("i", "he"),
        ),
        (
            {"type": "conversation.item.input_audio_transcription.completed", "item_id": "i", "transcript": "hello"},
            hp.Transcribed("i", "hello"),
        ),
        ({"type": "conversation.item.input_audio_transcription.failed", "item_id": "i"}, hp.Untranscribed("i")),
        (
            {"type": "response.created", "response": {"id": "r", "metadata": {hp.REQUEST_KEY: "q"}}},
            hp.ResponseBegan("r", "q"),
        ),
        ({"type": "response.created", "response": {"id": "r", "metadata": None}}, hp.ResponseBegan("r")),
        (
            {"type": "response.output_item.added", "response_id": "r", "item": {"id": "i", "type": "message"}},
            hp.ItemBegan("r", "i", True),
        ),
        ({"type": "response.output_audio.delta", "delta": "AAEC", **OF_ITEM}, hp.SoundCame("r", "i", b"\0\1\2")),
        ({"type": "response.output_audio_transcript.delta", "delta": "hi", **OF_ITEM}, hp.WordsCame("r", "i", "hi")),
        ({"type": "response.output_text.delta", "delta": "hi", **OF_ITEM}, hp.TextCame("r", "i", "hi")),
        (
            {"type": "response.output_item.done", "response_id": "r", "item": CALL},
            hp.ItemEnded("r", "i", ToolCall("look", '{"a": 1}', "c")),
        ),
        (
            {"type": "response.output_item.done", "response_id": "r", "item": {**CALL, "status": "incomplete"}},
            hp.ItemEnded("r", "i"),
        ),
        (
            {"type": "response.done", "response": {"id": "r", "status": "completed", "output": [CALL]}},
            hp.ResponseEnded("r", "completed", calls=(("i", ToolCall("look", '{"a": 1}', "c")),)),
        ),
        (
            {
                "type": "response.done",
                "response": {"id": "r", "status": "failed", "status_details": {"error": {"code": "rate_limit"}}},
            },
            hp.ResponseEnded("r", "failed", code="rate_limit"),
        ),
        (
            {"type": "rate_limits.updated", "rate_limits": [{"name": "tokens", "remaining": 5, "reset_seconds": 2.5}]},
            hp.LimitsUpdated((("tokens", 5, 2.5),)),
        ),
        (
            {"type": "error", "error": {"type": "invalid_request_error", "code": None, "event_id": "e"}},
            hp.RequestRefused("invalid_request_error", "e"),
        ),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_what_a_server_event_says(event: dict[str, Any], means: hp.Happened) -> None:
    assert hp.read(event) == means


def test_every_type_of_the_protocol_is_read_or_ignored_on_purpose() -> None:
    union = get_args(get_args(RealtimeServerEvent)[0])
    kinds = {get_args(model.model_fields["type"].annotation)[0] for model in union}
    assert kinds == set(hp.TABLE) | hp.IGNORED
    assert not set(hp.TABLE) & hp.IGNORED


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        {},
        {"type": 7},
        {"type": "response.created"},
        {"type": "response.created", "response": {"id": None}},
        {"type": "response.output_audio.delta", **OF_ITEM, "delta": "not base64!"},
        {"type": "response.output_audio.delta", **OF_ITEM, "delta": None},
        {"type": "response.done", "response": {"id": "r"}},
        {"type": "response.output_item.done", "response_id": "r", "item": None},
        {"type": "error", "error": "oops"},
        {"type": "rate_limits.updated", "rate_limits": 3},
    ],
)
def test_malformed_events_are_unreadable(event: object) -> None:
    assert isinstance(hp.read(event), hp.UnreadableEvent)


def test_a_type_outside_the_protocol_is_unknown() -> None:
    assert hp.read({"type": "response.telepathy.delta"}) == hp.UnknownEvent("response.telepathy.delta")
