"""The scripted server notices every wrong field, in requests and in its own events and answers."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from duologue.brains.anthropic.messages import write_anthropic, write_anthropic_tools
from duologue.ports import AgentSaid, CallOutput, Request, Tool, ToolCall, UserSaid
from tests.brains.anthropic_messages import AnthropicServer, check_body, says
from tests.brains.anthropic_types import problems_of_answer, problems_of_event, problems_of_request
from tests.limits import TEST_S
from tests.needs import needs_package

CACHED = {"type": "ephemeral"}
WEATHER = Tool("weather", "The weather of a city", {"type": "object", "properties": {"city": {"type": "string"}}})
HISTORY = (
    UserSaid(1, "Is it sunny in Rome?"),
    AgentSaid(1, "Let me look.", calls=((1, ToolCall("weather", {"city": "Rome"}, "call_1")),)),
    CallOutput(1, "sunny"),
    AgentSaid(1, "It is."),
    UserSaid(2, "And in Oslo?"),
)
USAGE = {"input_tokens": 11, "output_tokens": 1}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "It is sunny."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": USAGE,
}
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_start", "index": 1, "content_block": TOOL_USE},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 7},
    },
    {"type": "message_stop"},
    {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
    {"type": "ping"},
]
FREE = ("input", "input_schema")  # objects whose fields the API doesn't know


@pytest.fixture(autouse=True)
def _sdk() -> None:
    needs_package("anthropic", "pip install 'duologue[anthropic]'")


def request_body() -> dict[str, Any]:
    """A request with everything that the brain writes."""
    request = Request(2, "And in Oslo?", HISTORY, (WEATHER,), instructions="Be brief.")
    system, messages = write_anthropic(request)
    return {
        "model": "claude-x",
        "max_tokens": 1_024,
        "stream": True,
        "service_tier": "auto",
        "system": [{"type": "text", "text": system, "cache_control": CACHED}],
        "tools": [{**write_anthropic_tools((WEATHER,))[0], "cache_control": CACHED}],
        "tool_choice": {"type": "none"},
        "messages": messages,
    }


def objects_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all objects in this value, apart from those whose fields are free."""
    if isinstance(value, dict):
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in inside:
        if name not in FREE:
            yield from objects_in(inner, (*path, name))


def wrong_versions(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The message with one unknown field, and with one field of a wrong type, for each object and field in it."""
    for path in objects_in(message):
        names = list(at(message, path))
        for name in (*names, "flavour"):
            wrong = copy.deepcopy(message)
            at(wrong, path)[name] = 7.5
            yield ".".join(map(str, (*path, name))), wrong


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def test_one_wrong_field_anywhere_in_a_request_is_noticed() -> None:
    body = request_body()
    check_body(body)
    seen = []
    for path, wrong in wrong_versions(body):
        assert problems_of_request(wrong), path
        seen.append(path)
    assert {"system.0.cache_control.flavour", "tools.0.input_schema", "tool_choice.type"} <= set(seen)
    assert {"messages.1.content.1.id", "messages.2.content.0.tool_use_id"} <= set(seen)


@pytest.mark.parametrize("event", EVENTS, ids=lambda one: str(one["type"]))
def test_one_wrong_field_anywhere_in_an_event_is_noticed(event: dict[str, Any]) -> None:
    assert problems_of_event(event) == []
    for path, wrong in wrong_versions(event):
        assert problems_of_event(wrong), path


def test_one_wrong_field_anywhere_in_an_answer_is_noticed() -> None:
    assert problems_of_answer(MESSAGE) == []
    for path, wrong in wrong_versions(MESSAGE):
        assert problems_of_answer(wrong), path


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"max_tokens": "many"}, "max_tokens: must be int"),
        ({"max_tokens": True}, "max_tokens: must be int"),
        ({"temprature": 1}, "temprature: is unknown"),
        ({"system": [{"type": "text"}]}, "system.0.text: is missing"),
        ({"system": [{"type": "text", "text": "x", "cache": True}]}, "system.0.cache: is unknown"),
        ({"tool_choice": {"type": "never"}}, "tool_choice.type: must be one of"),
        ({"tool_choice": "none"}, "tool_choice: must be an object"),
        ({"tools": [{"name": "f", "input_schema": {"type": "object"}, "strickt": True}]}, "tools.0.strickt"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role: must be one of"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "txt": "x"}]}]}, "messages.0.content.0.t"),
        ({"messages": [{"role": "user", "content": [{"type": "note", "text": "x"}]}]}, "messages.0.content.0.type"),
    ],
)
def test_a_wrong_field_is_named_by_its_path(change: dict[str, Any], told: str) -> None:
    problems = problems_of_request({**request_body(), **change})
    assert told in "; ".join(problems)


@pytest.mark.parametrize("missing", ["model", "max_tokens", "messages"])
def test_a_missing_field_is_noticed(missing: str) -> None:
    body = request_body()
    del body[missing]
    assert problems_of_request(body) == [f"{missing}: is missing"]


def test_a_call_without_its_result_is_noticed() -> None:
    body = request_body()
    body["messages"][2]["content"] = [{"type": "text", "text": "never mind"}]
    with pytest.raises(AssertionError, match="every call needs its result"):
        check_body(body)


def test_a_wrong_request_fails_the_test_of_the_server() -> None:
    async def work() -> None:
        async with AnthropicServer(says("Yes.")) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            body = json.dumps({**request_body(), "temprature": 1}).encode()
            writer.write(b"POST /v1/messages HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await reader.read()
            writer.close()

    with pytest.raises(AssertionError, match="temprature: is unknown"):
        asyncio.run(asyncio.wait_for(work(), TEST_S))
