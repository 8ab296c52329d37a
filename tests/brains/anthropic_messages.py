"""A server that speaks Anthropic's Messages API as its scripts say, and refuses requests that break it.

Requests and sent events are checked with the types of Anthropic's own SDK: an unknown field or a wrong type fails the
test.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.brains.anthropic_types import problems_of_answer, problems_of_event, problems_of_request
from tests.brains.chat_server import ChatServer, Script, Wire


def check_body(body: dict[str, Any]) -> None:
    """Fail unless this is a request of the Messages API, and its messages follow the API's rules."""
    problems = problems_of_request(body)
    assert not problems, problems
    assert body.get("stream", True) is True
    for tool in body.get("tools", []):
        assert tool["input_schema"].get("type") == "object", "a tool's schema must describe an object"
    assert body["messages"][0]["role"] == "user"
    open_calls = list[str]()
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == open_calls, "every call needs its result in the next message"
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert not open_calls


class AnthropicServer(ChatServer):
    """A server for the duration of a `with` block. A request that breaks the API fails the test at its end."""

    def check(self, body: dict[str, Any]) -> None:
        check_body(body)


async def _event(wire: Wire, kind: str, **fields: Any) -> None:
    event = {"type": kind, **fields}
    problems = problems_of_event(event)
    assert not problems, problems
    await wire.raw(f"event: {kind}\ndata: {json.dumps(event)}\n\n".encode())


async def _begin(wire: Wire) -> None:
    await wire.begin()
    usage = {"input_tokens": 11, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    await _event(wire, "message_start", message=message)


async def _end(wire: Wire, reason: str) -> None:
    delta = {"stop_reason": reason, "stop_sequence": None}
    await _event(wire, "message_delta", delta=delta, usage={"output_tokens": 7})
    await _event(wire, "message_stop")
    await wire.end()


async def _text(wire: Wire, index: int, *texts: str) -> None:
    await _event(wire, "content_block_start", index=index, content_block={"type": "text", "text": ""})
    for text in texts:
        await _event(wire, "content_block_delta", index=index, delta={"type": "text_delta", "text": text})


def says(*texts: str) -> Script:
    """A reply of these pieces of text."""

    async def script(wire: Wire) -> None:
        await _begin(wire)
        await _event(wire, "ping")
        await _text(wire, 0, *texts)
        await _event(wire, "content_block_stop", index=0)
        await _end(wire, "end_turn")

    return script


def calls(name: str, *arguments: str, text: str = "") -> Script:
    """A reply that calls a tool, its arguments in pieces."""

    async def script(wire: Wire) -> None:
        await _begin(wire)
        if text:
            await _text(wire, 0, text)
            await _event(wire, "content_block_stop", index=0)
        index = 1 if text else 0
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        await _event(wire, "content_block_start", index=index, content_block=block)
        for piece in arguments:
            delta = {"type": "input_json_delta", "partial_json": piece}
            await _event(wire, "content_block_delta", index=index, delta=delta)
        await _event(wire, "content_block_stop", index=index)
        await _end(wire, "tool_use")

    return script


def stalls(*texts: str) -> Script:
    """A reply that begins and then says nothing until the client leaves."""

    async def script(wire: Wire) -> None:
        await _begin(wire)
        await _text(wire, 0, *texts)
        await wire.until_gone()

    return script


def streams_slowly(text: str, every_s: float = 0.3) -> Script:
    """A reply that says this text again and again, until the client leaves."""

    async def script(wire: Wire) -> None:
        await _begin(wire)
        await _text(wire, 0)
        gone = asyncio.ensure_future(wire.until_gone())
        while not gone.done():
            await _event(wire, "content_block_delta", index=0, delta={"type": "text_delta", "text": text})
            await asyncio.wait([gone], timeout=every_s)
        await gone

    return script


def breaks_off(*texts: str) -> Script:
    """A reply that ends in the middle."""

    async def script(wire: Wire) -> None:
        await _begin(wire)
        await _text(wire, 0, *texts)
        await wire.end()

    return script


def errs(kind: str, *texts: str) -> Script:
    """An error in the middle of a stream."""

    async def script(wire: Wire) -> None:
        await _begin(wire)
        await _text(wire, 0, *texts)
        await _event(wire, "error", error={"type": kind, "message": "secret words"})
        await wire.end()

    return script


def fails(status: int, message: str) -> Script:
    """An answer with this status."""

    async def script(wire: Wire) -> None:
        await _whole(wire, status, {"type": "error", "error": {"type": "api_error", "message": message}})

    return script


def answers(text: str) -> Script:
    """An answer that isn't streamed."""

    async def script(wire: Wire) -> None:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        ending = {"stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
        await _whole(wire, 200, {**message, "content": [{"type": "text", "text": text}], **ending})

    return script


async def _whole(wire: Wire, status: int, answer: dict[str, Any]) -> None:
    problems = problems_of_answer(answer)
    assert not problems, problems
    await wire.whole(status, answer)
