"""The parts of a reply, out of the pieces in which a chat service streams it.

Text is handed on as it comes. A call comes in many pieces and is handed on when it is whole: when another
one begins behind it, or at the end. Servers differ in what they leave out, so a missing field is nothing,
and a field of the wrong type is a failure of the server. Rule: calls leave in the order they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports import ServiceError, ToolCall

from .messages import is_json_object


@dataclass(slots=True)
class _Growing:
    """A call of which more may come."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""


class ReplyStream:
    """One reply, as far as it came."""

    def __init__(self, reply: int) -> None:
        self.finish = ""  # why the service says that the reply is over
        self.is_empty = True  # nothing was handed on
        self._reply = reply
        self._calls: list[_Growing] = []
        self._handed = 0

    def take(self, chunk: object) -> list[str | ToolCall]:
        """What this piece completes."""
        parts: list[str | ToolCall] = []
        for choice in _list(chunk, "choices")[:1]:  # only one was asked for
            delta = getattr(choice, "delta", None)
            # A refusal is an answer too, in a field of its own.
            text = _text(delta, "content") or _text(delta, "refusal")
            if text:
                parts.append(text)
            for piece in _list(delta, "tool_calls"):
                self._grow(piece)
            self.finish = _text(choice, "finish_reason")
        parts += self._whole_calls()
        self.is_empty = self.is_empty and not parts
        return parts

    def rest(self) -> list[ToolCall]:
        """The calls that only the end completes. What a filter cut off is not to be carried out."""
        if self.finish == "content_filter":
            return []
        rest = self._calls[self._handed :]
        return [self._hand_on(call) for call in rest]

    def _grow(self, piece: Any) -> None:
        function = getattr(piece, "function", None)
        given, name = _text(piece, "id"), _text(function, "name")
        index = getattr(piece, "index", None)
        call = self._call_at(index)
        if call is None or _begins_another(call, given, name):
            call = _Growing(index)
            self._calls.append(call)
        call.id = call.id or given
        if name != call.name:  # some servers repeat it in every piece
            call.name += name
        call.arguments += _text(function, "arguments")

    def _call_at(self, index: int | None) -> _Growing | None:
        """The newest call with this index, or the newest of all if the server doesn't count."""
        for call in reversed(self._calls):
            if index is None or call.index == index:
                return call
        return None

    def _whole_calls(self) -> list[ToolCall]:
        """Calls that another one has followed. One that is not whole yet waits for the end, because
        pieces of several calls may come in turns."""
        parts = []
        while self._handed < len(self._calls) - 1 and is_json_object(self._calls[self._handed].arguments):
            parts.append(self._hand_on(self._calls[self._handed]))
        return parts

    def _hand_on(self, call: _Growing) -> ToolCall:
        self._handed += 1
        if not call.name:
            raise garbled()
        return ToolCall(call.name, call.arguments or "{}", call.id or f"call_r{self._reply}_{self._handed}")


def _begins_another(call: _Growing, given: str, name: str) -> bool:
    """Some servers give every call the same index: then a new id begins a new call or, without ids,
    a name behind a call that is whole."""
    if given and call.id:
        return given != call.id
    return bool(name and call.name) and is_json_object(call.arguments)


def garbled() -> ServiceError:
    """The server sent what makes no sense. What it sent is not told: it may hold words."""
    return ServiceError(ErrorClass.SERVER_ERROR, "the chat service sent something that can't be read")


def _list(holder: object, name: str) -> list[Any]:
    value = getattr(holder, name, None)
    if value is None:
        return []
    if not isinstance(value, list):
        raise garbled()
    return value


def _text(holder: object, name: str) -> str:
    value = getattr(holder, name, None)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise garbled()
    return value
