"""Writes a request as the messages of Anthropic's Messages API.

The request is first written as a chat for any LLM (`chat.messages`). Here that chat is converted to the form that the
API requires: roles alternate, the first message is from the user, and the results of tool calls are at the beginning of
the message after the calls. Rule: the messages depend only on the request.
"""

from __future__ import annotations

import json
import re
from typing import Any

from duologue.brains.chat.messages import ChatMessage, write_messages
from duologue.ports import Request, Tool

_BEGIN = "[The conversation begins.]"
_STRANGE = re.compile(r"[^a-zA-Z0-9_-]")


def write_anthropic(request: Request, instructions: str = "") -> tuple[str, list[dict[str, Any]]]:
    """The system text and the messages."""
    system = list[str]()
    messages = list[dict[str, Any]]()
    for message in write_messages(request, instructions, "user"):
        if message["role"] == "system":
            system.append(message["content"])
        else:
            _append(messages, "assistant" if message["role"] == "assistant" else "user", _blocks(message))
    if not messages or messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [_text(_BEGIN)]})
    return "\n\n".join(system), messages


def write_anthropic_tools(tools: tuple[Tool, ...]) -> list[dict[str, Any]]:
    """The tools in the form of the Messages API."""
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools]


def _append(messages: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def _blocks(message: ChatMessage) -> list[dict[str, Any]]:
    content = message.get("content")
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": _id(message["tool_call_id"]), "content": content}]
    blocks = [_text(content)] if content and content.strip() else []
    for call in message.get("tool_calls", ()):
        function = call["function"]
        given = json.loads(function["arguments"])  # an object: `write_messages` sees to that
        blocks.append({"type": "tool_use", "id": _id(call["id"]), "name": function["name"], "input": given})
    return blocks


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _id(name: str) -> str:
    """The id of a tool call. Each character that the API doesn't allow becomes `_`; such characters occur in ids from
    other services."""
    return _STRANGE.sub("_", name)
