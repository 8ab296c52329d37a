"""Reading the messages of a client."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.server.rtvi import incoming as im
from duologue.server.rtvi.refusal import MessageRefused


def read(kind: Any, data: Any = None, **more: Any) -> im.IncomingMessage:
    return im.read_message(json.dumps({"label": "rtvi-ai", "type": kind, "id": "a", "data": data, **more}))


def test_each_message_becomes_a_value() -> None:
    about = {"library": "@pipecat-ai/client-js", "library_version": "1.13.1"}
    assert read("client-ready", {"version": "2.1.0", "about": about}) == im.ClientReady("a", "2.1.0", about["library"])
    assert read("client-ready", None) == im.ClientReady("a", "", "")
    assert read("disconnect-bot", {}) == im.DisconnectBot("a")
    assert read("send-text", {"content": "hi", "options": {}}) == im.SendText("a", "hi")
    options = {"run_immediately": False, "audio_response": False}
    assert read("send-text", {"content": "hi", "options": options}) == im.SendText("a", "hi", False, False)
    assert read("append-to-context", {"role": "assistant", "content": "hi"}) == im.SendText(
        "a", "hi", False, True, True
    )
    assert read("client-message", {"t": "x", "d": [1]}) == im.SendProgramMessage("a", "x", [1])
    result = {"function_name": "f", "tool_call_id": "call_1", "arguments": {}, "result": {"a": 1}}
    assert read("llm-function-call-result", result) == im.GiveResult("a", "call_1", "f", '{"a": 1}')
    assert read("dtmf", {"buttons": ["1", "#"]}) == im.PressKeys("a", "1#")
    assert read("dtmf", {"button": "5"}) == im.PressKeys("a", "5")


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("nonsense", {}, "Unsupported type 'nonsense'"),
        (3, {}, "Unsupported type 'int'"),
        ("send-file", {}, "this server takes no files"),
        ("ui-event", {"event": "x"}, "send a client message instead"),
        ("send-text", {}, "'content' must be a string"),
        ("send-text", {"content": "  "}, "'content' is empty"),
        ("send-text", {"content": "a", "options": 3}, "'options' must be an object"),
        ("send-text", {"content": "a", "options": {"audio_response": 1}}, "'audio_response' must be true or false"),
        ("append-to-context", {"role": "system", "content": "a"}, "'role' must be"),
        ("append-to-context", {"role": "assistant", "content": "a", "run_immediately": True}, "needs the role 'user'"),
        ("append-to-context", {"role": "user", "content": [1]}, "'content' must be a string"),
        ("client-message", {"d": 1}, "'t' must be a string"),
        ("llm-function-call-result", {"tool_call_id": "x"}, "'result' must be"),
        ("dtmf", {"buttons": []}, "'buttons' must be a list"),
        ("dtmf", {"buttons": ["12"]}, "may contain only the keys"),
        ("disconnect-bot", [], "'data' isn't an object"),
    ],
)
def test_what_cant_be_taken_is_refused_with_the_id_of_its_message(kind: Any, data: Any, why: str) -> None:
    with pytest.raises(MessageRefused, match=why) as refused:
        read(kind, data)
    assert refused.value.id == "a"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "3",
        "[]",
        "[" * 100_000,
        "{}",
        '{"id": 4}',
        '{"id": "", "label": "rtvi-ai", "type": "client-ready"}',
        '{"id": "a", "label": "other"}',
    ],
)
def test_what_isnt_a_message_is_refused(text: str) -> None:
    with pytest.raises(MessageRefused):
        im.read_message(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=2)
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([*im.READERS, *im.UNSUPPORTED]),
    st.dictionaries(
        st.sampled_from(
            [
                "version",
                "about",
                "content",
                "options",
                "role",
                "run_immediately",
                "t",
                "d",
                "tool_call_id",
                "result",
                "buttons",
            ]
        ),
        JSON,
    ),
)
def test_any_data_is_read_or_refused(kind: str, data: dict[str, Any]) -> None:
    try:
        read(kind, data)
    except MessageRefused:
        return
