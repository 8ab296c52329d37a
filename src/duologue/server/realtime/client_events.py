"""The events that a client may send, and how they are read from JSON text.

Rule: each kind of event has its own type. The refusal of an event that can't be read contains the event's id, so that
the client knows which event it was.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .fields import JsonObject, check_names, optional_text, read_object, read_text, read_whole
from .refusal import EventRefused, invalid, missing, wrong_type

ID_CHARS_MAX = 512


@dataclass(frozen=True, slots=True)
class ClientEvent:
    """An event that a client sent. `event_id` is the id that the client gave it, if any."""

    event_id: str | None


@dataclass(frozen=True, slots=True)
class SessionUpdate(ClientEvent):
    session: JsonObject


@dataclass(frozen=True, slots=True)
class AudioAppend(ClientEvent):
    audio: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AudioCommit(ClientEvent):
    """The client commits the sound that it has appended, which means that the user's turn is over."""


@dataclass(frozen=True, slots=True)
class AudioClear(ClientEvent):
    """The client discards the sound that it has appended since the last commit."""


@dataclass(frozen=True, slots=True)
class ItemCreate(ClientEvent):
    item: JsonObject
    previous_item_id: str | None = None


@dataclass(frozen=True, slots=True)
class ItemRetrieve(ClientEvent):
    item_id: str


@dataclass(frozen=True, slots=True)
class ItemDelete(ClientEvent):
    item_id: str


@dataclass(frozen=True, slots=True)
class ItemTruncate(ClientEvent):
    """The client has stopped playing an item. The server itself sets the last two fields. `played_ms` is the most that
    the client can have played by now; None if that isn't known. `reported_ms` is how much was already reported to the
    conversation as heard."""

    item_id: str
    content_index: int
    audio_end_ms: int
    played_ms: int | None = None
    reported_ms: int = 0


@dataclass(frozen=True, slots=True)
class ResponseCreate(ClientEvent):
    response: JsonObject


@dataclass(frozen=True, slots=True)
class ResponseCancel(ClientEvent):
    response_id: str | None = None


@dataclass(frozen=True, slots=True)
class OutputClear(ClientEvent):
    """The client wants the agent's sound on the WebRTC audio track to stop."""


BEGINNING = (AudioAppend, ResponseCreate)
"""Events that begin a conversation. Events of other kinds only prepare it, so an agent that greets doesn't come before
a client that sends a text and asks for a response to it."""

ReadClientEvent: TypeAlias = Callable[[str | None, JsonObject], ClientEvent]


class RefusedEvent(EventRefused):
    """The client has sent a text that isn't a valid event. `event_id` is the event's id; None if it couldn't be
    read."""

    def __init__(self, event_id: str | None, why: EventRefused) -> None:
        super().__init__(why.code, why.message, why.param, why.kind)
        self.event_id = event_id


def read_event(text: str | bytes) -> ClientEvent:
    """Read the event in this text. Raises RefusedEvent if it isn't valid."""
    event_id = None
    try:
        if isinstance(text, bytes):
            raise EventRefused("invalid_event", "Send events as JSON in text messages, not in binary messages.")
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            raise EventRefused("invalid_json", "The message isn't JSON.") from None
        if not isinstance(given, dict):
            raise EventRefused("invalid_json", "The message isn't a JSON object.")
        event_id = given.get("event_id")
        if event_id is not None and (not isinstance(event_id, str) or len(event_id) > ID_CHARS_MAX):
            event_id = None
            raise wrong_type("event_id", f"a string of at most {ID_CHARS_MAX} characters")
        kind = given.get("type")
        if kind is None:
            raise missing("type")
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise _unknown_event(kind)
        names, read = reader
        check_names(given, names)
        return read(event_id, given)
    except EventRefused as why:
        raise RefusedEvent(event_id, why) from None


def _unknown_event(kind: Any) -> EventRefused:
    if not isinstance(kind, str):
        return wrong_type("type", "a string")
    if kind in BETA_EVENTS:
        message = f"'{kind}' belongs to the beta protocol: use '{BETA_EVENTS[kind]}'."
        return EventRefused("beta_api_shape_disabled", message, "type")
    return EventRefused("invalid_value", f"Unknown event type {kind[:80]!r}; known are: {', '.join(_READERS)}.", "type")


BETA_EVENTS = {
    "transcription_session.update": "session.update",
    "conversation.item.created": "conversation.item.create",
    "response.audio.delta": "response.output_audio.delta",
    "response.audio_transcript.delta": "response.output_audio_transcript.delta",
    "response.text.delta": "response.output_text.delta",
}


def _append(event_id: str | None, given: JsonObject) -> ClientEvent:
    try:
        return AudioAppend(event_id, base64.b64decode(read_text(given, "audio"), validate=True))
    except (binascii.Error, ValueError):
        raise invalid("audio", "it isn't base64") from None


def _create_item(event_id: str | None, given: JsonObject) -> ClientEvent:
    if "item" not in given:
        raise missing("item")
    return ItemCreate(event_id, read_object(given["item"], "item"), optional_text(given, "previous_item_id"))


def _truncate(event_id: str | None, given: JsonObject) -> ClientEvent:
    item = read_text(given, "item_id", chars_max=ID_CHARS_MAX)
    return ItemTruncate(event_id, item, read_whole(given, "content_index"), read_whole(given, "audio_end_ms"))


def _update(event_id: str | None, given: JsonObject) -> ClientEvent:
    if "session" not in given:
        raise missing("session")
    return SessionUpdate(event_id, read_object(given["session"], "session"))


def _respond(event_id: str | None, given: JsonObject) -> ClientEvent:
    return ResponseCreate(event_id, read_object(given.get("response") or {}, "response"))


_OWN: dict[str, tuple[tuple[str, ...], ReadClientEvent]] = {
    "session.update": (("session",), _update),
    "input_audio_buffer.append": (("audio",), _append),
    "input_audio_buffer.commit": ((), lambda id_, _: AudioCommit(id_)),
    "input_audio_buffer.clear": ((), lambda id_, _: AudioClear(id_)),
    "conversation.item.create": (("item", "previous_item_id"), _create_item),
    "conversation.item.retrieve": (("item_id",), lambda id_, it: ItemRetrieve(id_, read_text(it, "item_id"))),
    "conversation.item.delete": (("item_id",), lambda id_, it: ItemDelete(id_, read_text(it, "item_id"))),
    "conversation.item.truncate": (("item_id", "content_index", "audio_end_ms"), _truncate),
    "output_audio_buffer.clear": ((), lambda id_, _: OutputClear(id_)),
    "response.create": (("response",), _respond),
    "response.cancel": (("response_id",), lambda id_, it: ResponseCancel(id_, optional_text(it, "response_id"))),
}
_READERS = {kind: (frozenset(("type", "event_id", *names)), read) for kind, (names, read) in _OWN.items()}
"""For each kind of event, the names that its fields may have, and the function that reads it."""
