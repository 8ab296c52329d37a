"""Reads the events of a streamed message and returns the parts of the reply.

Text is returned as it arrives. A tool call is returned when its arguments are complete. Thoughts of the model aren't
part of the reply. Rule: a reply is complete only when the API says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duologue.ports import ToolCall
from duologue.ports.usage import Usage


class ReplyEvents:
    """One reply, which arrives event by event."""

    def __init__(self, reply: int) -> None:
        self.is_complete = False
        self.is_empty = True  # no part was returned yet
        self.stop_reason = ""
        self.usage = Usage()
        self._reply = reply
        self._calls = 0
        self._open: dict[int, tuple[str, str, str]] = {}  # calls by their block: id, name and arguments so far

    def take(self, event: Any) -> list[str | ToolCall]:
        """Process an event, and return the parts of the reply that it has completed."""
        parts: list[str | ToolCall] = []
        match event.type:
            case "message_start":
                self._note_usage(event.message.usage)
            case "content_block_start" if event.content_block.type == "tool_use":
                self._open[event.index] = (event.content_block.id, event.content_block.name, "")
            case "content_block_delta" if event.delta.type == "text_delta" and event.delta.text:
                parts.append(event.delta.text)
            case "content_block_delta" if event.delta.type == "input_json_delta" and event.index in self._open:
                name, tool, arguments = self._open[event.index]
                self._open[event.index] = (name, tool, arguments + event.delta.partial_json)
            case "content_block_stop" if event.index in self._open:
                parts.append(self._call(*self._open.pop(event.index)))
            case "message_delta":
                self.stop_reason = event.delta.stop_reason or self.stop_reason
                self.usage = replace(self.usage, output_tokens=event.usage.output_tokens or 0)
            case "message_stop":
                self.is_complete = True
        self.is_empty = self.is_empty and not parts
        return parts

    def _call(self, name: str, tool: str, arguments: str) -> ToolCall:
        self._calls += 1
        return ToolCall(tool, arguments or "{}", name or f"call_r{self._reply}_{self._calls}")

    def _note_usage(self, usage: Any) -> None:
        """Record the token counts of this event. The API counts cached tokens separately, so they are added to the
        input tokens."""
        cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        self.usage = Usage(
            input_tokens=usage.input_tokens + cached,
            cached_tokens=usage.cache_read_input_tokens or 0,
            output_tokens=usage.output_tokens,
        )
