"""Reads the chunks that a chat service streams and returns the parts of the reply.

Text is returned as it arrives. A tool call arrives in many chunks. It is returned when it is complete: when
another call begins after it, or at the end of the reply. Servers omit different fields, so a missing field
is treated as empty, but a field of the wrong type is a server error. Rule: calls are returned in the order in which
they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports import ServiceError, ToolCall

from .messages import is_json_object


@dataclass(slots=True)
class _PartialCall:
    """A tool call that is perhaps not complete yet."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""


class ReplyStream:
    """One reply, which arrives chunk by chunk."""

    def __init__(self, reply: int) -> None:
        self.finish = ""  # the service's finish_reason; empty while the reply goes on
        self.is_empty = True  # no part was returned yet
        self.tokens: dict[str, int] = {}  # the usage that the service reported
        self._reply = reply
        self._calls: list[_PartialCall] = []
        self._returned = 0  # how many of the calls were returned

    def take(self, chunk: object) -> list[str | ToolCall]:
        """Process a chunk, and return the parts of the reply that it has completed."""
        self.take_usage(chunk)
        parts: list[str | ToolCall] = []
        for choice in _list(chunk, "choices")[:1]:  # only one choice was requested
            delta = getattr(choice, "delta", None)
            # A refusal is an answer too, but in another field.
            text = _text(delta, "content") or _text(delta, "refusal")
            if text:
                parts.append(text)
            for piece in _list(delta, "tool_calls"):
                self._grow(piece)
            self.finish = _text(choice, "finish_reason")
        parts += self._whole_calls()
        self.is_empty = self.is_empty and not parts
        return parts

    def take_usage(self, chunk: object) -> None:
        """If this chunk has token counts, read them. Services send the counts in the last chunk, or in every chunk as a
        running sum."""
        usage = getattr(chunk, "usage", None)
        found = {
            "input_tokens": getattr(usage, "prompt_tokens", None),
            "cached_tokens": getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None),
            "output_tokens": getattr(usage, "completion_tokens", None),
        }
        counts = {unit: count for unit, count in found.items() if type(count) is int and count > 0}
        self.tokens = counts or self.tokens

    def rest(self) -> list[ToolCall]:
        """The tool calls that weren't returned yet. They are complete now, because the reply has ended. Empty if a
        content filter cut the reply off."""
        if self.finish == "content_filter":
            return []
        rest = self._calls[self._returned :]
        return [self._complete(call) for call in rest]

    def _grow(self, piece: Any) -> None:
        function = getattr(piece, "function", None)
        call_id, name = _text(piece, "id"), _text(function, "name")
        index = getattr(piece, "index", None)
        call = self._call_at(index)
        if call is None or _begins_another(call, call_id, name):
            call = _PartialCall(index)
            self._calls.append(call)
        call.id = call.id or call_id
        if name != call.name:  # some servers repeat the name in every chunk
            call.name += name
        call.arguments += _text(function, "arguments")

    def _call_at(self, index: int | None) -> _PartialCall | None:
        """The newest tool call with this index. If the server sent no index, the result is the newest tool call of the
        reply."""
        for call in reversed(self._calls):
            if index is None or call.index == index:
                return call
        return None

    def _whole_calls(self) -> list[ToolCall]:
        """The next tool calls that can be returned, in order. A call can be returned when its arguments are complete
        and another call has begun. If an earlier call isn't complete yet, later calls must wait for it, because the
        chunks of several calls may be interleaved."""
        parts = []
        while self._returned < len(self._calls) - 1 and is_json_object(self._calls[self._returned].arguments):
            parts.append(self._complete(self._calls[self._returned]))
        return parts

    def _complete(self, call: _PartialCall) -> ToolCall:
        self._returned += 1
        if not call.name:
            raise unreadable_reply()
        return ToolCall(call.name, call.arguments or "{}", call.id or f"call_r{self._reply}_{self._returned}")


def _begins_another(call: _PartialCall, call_id: str, name: str) -> bool:
    """Does this chunk begin a new tool call? The index can't tell, because some servers give every tool call the same
    index. A new id always begins a new call. A chunk without an id begins one if it has a name, and if the current call
    has a name and complete arguments."""
    if call_id and call.id:
        return call_id != call.id
    return bool(name and call.name) and is_json_object(call.arguments)


def unreadable_reply() -> ServiceError:
    """The error for a malformed reply. It doesn't quote the reply, which may contain the user's words."""
    return ServiceError(ErrorClass.SERVER_ERROR, "the chat service sent something that can't be read")


def _list(holder: object, name: str) -> list[Any]:
    value = getattr(holder, name, None)
    if value is None:
        return []
    if not isinstance(value, list):
        raise unreadable_reply()
    return value


def _text(holder: object, name: str) -> str:
    value = getattr(holder, name, None)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise unreadable_reply()
    return value
