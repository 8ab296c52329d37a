"""Events of a client: what is one, and how the others are refused."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.server.realtime import client_events as ce


def read(**event: Any) -> ce.ClientEvent:
    return ce.read_event(json.dumps(event))


def refused(text: str | bytes) -> ce.RefusedEvent:
    with pytest.raises(ce.RefusedEvent) as why:
        ce.read_event(text)
    return why.value


def test_events_are_values() -> None:
    assert read(type="input_audio_buffer.append", audio="AAE=") == ce.AudioAppend(None, b"\x00\x01")
    assert read(type="response.create", event_id="e1") == ce.ResponseCreate("e1", {})
    assert read(type="response.cancel", response_id="r") == ce.ResponseCancel(None, "r")
    assert read(type="conversation.item.truncate", item_id="i", content_index=0, audio_end_ms=7) == ce.ItemTruncate(
        None, "i", 0, 7
    )
    assert read(type="conversation.item.create", item={"type": "message"}) == ce.ItemCreate(None, {"type": "message"})


@pytest.mark.parametrize(
    ("event", "code", "param"),
    [
        ({}, "missing_required_parameter", "type"),
        ({"type": "response.create", "respond": 1}, "unknown_parameter", "respond"),
        ({"type": "input_audio_buffer.append"}, "missing_required_parameter", "audio"),
        ({"type": "input_audio_buffer.append", "audio": "%%%"}, "invalid_value", "audio"),
        ({"type": "session.update"}, "missing_required_parameter", "session"),
        ({"type": "session.update", "session": []}, "invalid_type", "session"),
        ({"type": "conversation.item.truncate", "item_id": "i"}, "missing_required_parameter", "content_index"),
        (
            {"type": "conversation.item.truncate", "item_id": "i", "content_index": 0, "audio_end_ms": -1},
            "invalid_value",
            "audio_end_ms",
        ),
        (
            {"type": "conversation.item.truncate", "item_id": "i", "content_index": 0, "audio_end_ms": 1.5},
            "invalid_type",
            "audio_end_ms",
        ),
        ({"type": "magic"}, "invalid_value", "type"),
        ({"type": 7}, "invalid_type", "type"),
    ],
)  # fmt: skip
def test_what_isnt_an_event_is_refused_with_its_id(event: dict[str, Any], code: str, param: str | None) -> None:
    why = refused(json.dumps({**event, "event_id": "mine"}))
    assert (why.code, why.event_id) == (code, "mine")
    assert param is None or why.param == param
    assert why.as_error(why.event_id)["event_id"] == "mine"


def test_events_of_the_beta_are_refused_with_the_new_name() -> None:
    why = refused(json.dumps({"type": "transcription_session.update"}))
    assert why.code == "beta_api_shape_disabled"
    assert "session.update" in why.message


@pytest.mark.parametrize("text", ["", "no", "[]", "7", b"\x00", "[" * 100_000, '{"type": "a", "event_id": 7}'])
def test_what_isnt_json_is_refused(text: str | bytes) -> None:
    assert refused(text).event_id is None


NAMES = st.sampled_from(["type", "event_id", "audio", "item", "session", "item_id"])
PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just("response.create")


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)


@given(st.recursive(PLAIN, nested, max_leaves=8))
def test_any_json_is_an_event_or_is_refused(value: Any) -> None:
    with suppress(ce.RefusedEvent):
        assert isinstance(ce.read_event(json.dumps(value)), ce.ClientEvent)
