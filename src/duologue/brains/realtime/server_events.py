"""Converts server events to values. TABLE maps each type of event to the function that reads it.

Rule: an event type that is in neither TABLE nor IGNORED is unknown. Unknown and unreadable events are counted but
change nothing, because a server may be newer than this code.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from duologue.ports.tool_call import ToolCall

ServerEvent: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SessionBegan:
    expires_at_s: int = 0


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """The server applied the settings that were sent."""


# -- The user


@dataclass(frozen=True, slots=True)
class SpeechOn:
    item: str


@dataclass(frozen=True, slots=True)
class SpeechOff:
    item: str


@dataclass(frozen=True, slots=True)
class AudioCommitted:
    item: str


@dataclass(frozen=True, slots=True)
class Transcribing:
    """The next piece of the transcript of the user's speech."""

    item: str
    text: str


@dataclass(frozen=True, slots=True)
class Transcribed:
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class Untranscribed:
    """The server heard the user, but transcription failed."""

    item: str


# -- Responses


@dataclass(frozen=True, slots=True)
class ResponseBegan:
    """A response has begun. `request` is the name of the request that the response answers. We sent this name in the
    request's metadata, and the server copies it from there."""

    response: str
    request: str = ""


@dataclass(frozen=True, slots=True)
class ItemBegan:
    response: str
    item: str
    is_message: bool


@dataclass(frozen=True, slots=True)
class SoundCame:
    response: str
    item: str
    pcm: bytes


@dataclass(frozen=True, slots=True)
class WordsCame:
    """The next piece of the transcript of a response's audio."""

    response: str
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class TextCame:
    """The next piece of a response that is text without audio."""

    response: str
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class ItemEnded:
    """An item of a response has ended. `call` is set if the item is a tool call."""

    response: str
    item: str
    call: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class ResponseEnded:
    """A response has ended. `calls` lists its tool calls as (item, call). Earlier events have already reported them,
    but such an event may have been lost."""

    response: str
    status: str
    reason: str = ""
    code: str = ""
    calls: tuple[tuple[str, ToolCall], ...] = ()


# -- The rest


@dataclass(frozen=True, slots=True)
class LimitsUpdated:
    """The rate limits, each as (name, remaining, seconds until the limit is reset)."""

    limits: tuple[tuple[str, int, float], ...]


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """An error event. `event` is the id of the client event that caused the error; empty if the server names no
    event."""

    code: str
    event: str = ""


@dataclass(frozen=True, slots=True)
class IgnoredEvent:
    """A known event that changes nothing for us."""


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    kind: str


@dataclass(frozen=True, slots=True)
class UnreadableEvent:
    kind: str


Happened: TypeAlias = (
    SessionBegan
    | SessionChanged
    | SpeechOn
    | SpeechOff
    | AudioCommitted
    | Transcribing
    | Transcribed
    | Untranscribed
    | ResponseBegan
    | ItemBegan
    | SoundCame
    | WordsCame
    | TextCame
    | ItemEnded
    | ResponseEnded
    | LimitsUpdated
    | RequestRefused
    | IgnoredEvent
    | UnknownEvent
    | UnreadableEvent
)
OfResponse: TypeAlias = ResponseBegan | ItemBegan | SoundCame | WordsCame | TextCame | ItemEnded | ResponseEnded

REQUEST_KEY = "duologue_request"  # the metadata key for our name of a request


def read(event: object) -> Happened:
    """Convert a server event to its value. Never raises."""
    kind = event.get("type") if isinstance(event, dict) else None
    if not isinstance(event, dict) or not isinstance(kind, str):
        return UnreadableEvent("")
    reader = TABLE.get(kind)
    if reader is None:
        return IgnoredEvent() if kind in IGNORED else UnknownEvent(kind)
    try:
        return reader(event)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, binascii.Error):
        return UnreadableEvent(kind)


# -- Readers of the event types


def _text(holder: ServerEvent, name: str) -> str:
    """The value of a field that must be a string. Raises KeyError if the field is missing, TypeError if it isn't a
    string."""
    value = holder[name]
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _session_began(e: ServerEvent) -> Happened:
    return SessionBegan(int(e["session"].get("expires_at") or 0))


def _response_began(e: ServerEvent) -> Happened:
    metadata = e["response"].get("metadata") or {}
    return ResponseBegan(_text(e["response"], "id"), str(metadata.get(REQUEST_KEY, "")))


def _item_began(e: ServerEvent) -> Happened:
    return ItemBegan(_text(e, "response_id"), _text(e["item"], "id"), e["item"]["type"] == "message")


def _sound_came(e: ServerEvent) -> Happened:
    return SoundCame(_text(e, "response_id"), _text(e, "item_id"), base64.b64decode(e["delta"], validate=True))


def _item_ended(e: ServerEvent) -> Happened:
    return ItemEnded(_text(e, "response_id"), _text(e["item"], "id"), _call(e["item"]))


def _call(item: ServerEvent) -> ToolCall | None:
    if item["type"] != "function_call" or item.get("status") == "incomplete":  # cancelled before it was complete
        return None
    return ToolCall(_text(item, "name"), _text(item, "arguments") or "{}", _text(item, "call_id"))


def _response_ended(e: ServerEvent) -> Happened:
    response = e["response"]
    details = response.get("status_details") or {}
    error = details.get("error") or {}
    made = [(_text(item, "id"), call) for item in response.get("output") or () if (call := _call(item))]
    code = str(error.get("code") or error.get("type") or "")
    return ResponseEnded(
        _text(response, "id"), _text(response, "status"), str(details.get("reason") or ""), code, tuple(made)
    )


def _limits_updated(e: ServerEvent) -> Happened:
    return LimitsUpdated(
        tuple(
            (str(limit.get("name") or ""), int(limit.get("remaining") or 0), float(limit.get("reset_seconds") or 0))
            for limit in e["rate_limits"]
        )
    )


def _refused(e: ServerEvent) -> Happened:
    error = e["error"]
    return RequestRefused(str(error.get("code") or error.get("type") or ""), str(error.get("event_id") or ""))


TABLE: dict[str, Callable[[ServerEvent], Happened]] = {
    "session.created": _session_began,
    "session.updated": lambda e: SessionChanged(),  # noqa: ARG005
    "input_audio_buffer.speech_started": lambda e: SpeechOn(_text(e, "item_id")),
    "input_audio_buffer.speech_stopped": lambda e: SpeechOff(_text(e, "item_id")),
    "input_audio_buffer.committed": lambda e: AudioCommitted(_text(e, "item_id")),
    "conversation.item.input_audio_transcription.delta": lambda e: Transcribing(
        _text(e, "item_id"), str(e.get("delta") or "")
    ),
    "conversation.item.input_audio_transcription.completed": lambda e: Transcribed(
        _text(e, "item_id"), _text(e, "transcript")
    ),
    "conversation.item.input_audio_transcription.failed": lambda e: Untranscribed(_text(e, "item_id")),
    "response.created": _response_began,
    "response.output_item.added": _item_began,
    "response.output_audio.delta": _sound_came,
    "response.output_audio_transcript.delta": lambda e: WordsCame(
        _text(e, "response_id"), _text(e, "item_id"), _text(e, "delta")
    ),
    "response.output_text.delta": lambda e: TextCame(_text(e, "response_id"), _text(e, "item_id"), _text(e, "delta")),
    "response.output_item.done": _item_ended,
    "response.done": _response_ended,
    "rate_limits.updated": _limits_updated,
    "error": _refused,
}
# Known events that repeat another event, or are about features that we don't use.
IGNORED = frozenset(
    (
        "conversation.created",
        "conversation.item.added",
        "conversation.item.created",
        "conversation.item.deleted",
        "conversation.item.done",
        "conversation.item.input_audio_transcription.segment",
        "conversation.item.retrieved",
        "conversation.item.truncated",
        "input_audio_buffer.cleared",
        "input_audio_buffer.dtmf_event_received",
        "input_audio_buffer.timeout_triggered",
        "mcp_list_tools.completed",
        "mcp_list_tools.failed",
        "mcp_list_tools.in_progress",
        "output_audio_buffer.cleared",
        "output_audio_buffer.started",
        "output_audio_buffer.stopped",
        "response.content_part.added",
        "response.content_part.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.mcp_call.completed",
        "response.mcp_call.failed",
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.output_text.done",
    )
)
