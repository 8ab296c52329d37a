"""Events of a streamed message become the parts of a reply."""

from __future__ import annotations

from types import SimpleNamespace as Object
from typing import Any

from duologue.brains.anthropic.reply_events import ReplyEvents
from duologue.ports import ToolCall
from duologue.ports.usage import Usage


def delta(index: int, kind: str, **fields: str) -> Any:
    return Object(type="content_block_delta", index=index, delta=Object(type=kind, **fields))


def start(index: int, kind: str, **fields: Any) -> Any:
    return Object(type="content_block_start", index=index, content_block=Object(type=kind, **fields))


def stop(index: int) -> Any:
    return Object(type="content_block_stop", index=index)


def test_text_comes_at_once_and_thoughts_do_not() -> None:
    events = ReplyEvents(1)
    events.take(start(0, "thinking"))
    assert events.take(delta(0, "thinking_delta", thinking="Hm.")) == []
    assert events.is_empty
    assert events.take(delta(1, "text_delta", text="Hello")) == ["Hello"]
    assert not events.is_empty


def test_a_call_comes_when_its_arguments_are_complete() -> None:
    events = ReplyEvents(1)
    events.take(start(0, "tool_use", id="toolu_1", name="look"))
    events.take(delta(0, "input_json_delta", partial_json='{"x"'))
    assert events.take(delta(0, "input_json_delta", partial_json=": 1}")) == []
    assert events.take(stop(0)) == [ToolCall("look", '{"x": 1}', "toolu_1")]
    assert events.take(stop(0)) == []


def test_a_call_without_arguments_has_an_empty_object() -> None:
    events = ReplyEvents(3)
    events.take(start(0, "tool_use", id="", name="look"))
    assert events.take(stop(0)) == [ToolCall("look", "{}", "call_r3_1")]


def test_it_is_complete_only_when_the_api_says_so() -> None:
    events = ReplyEvents(1)
    usage = Object(input_tokens=5, output_tokens=1, cache_read_input_tokens=90, cache_creation_input_tokens=None)
    events.take(Object(type="message_start", message=Object(usage=usage)))
    events.take(Object(type="message_delta", delta=Object(stop_reason="end_turn"), usage=Object(output_tokens=7)))
    assert not events.is_complete
    events.take(Object(type="message_stop"))
    assert events.is_complete
    assert events.stop_reason == "end_turn"
    assert events.usage == Usage(input_tokens=95, cached_tokens=90, output_tokens=7)


def test_unknown_events_are_ignored() -> None:
    assert ReplyEvents(1).take(Object(type="ping")) == []
