"""Checks events against the Realtime protocol, with the types of the `openai` package.

These types accept unknown fields, so this module itself reports unknown fields as problems. Rule: every problem names
the path of its field.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from openai import BaseModel
from openai.types.realtime import RealtimeClientEvent, RealtimeServerEvent, RealtimeSessionCreateResponse
from pydantic import TypeAdapter, ValidationError

# In the package's types, these events contain a session as a client writes it. But servers send the whole session, with
# its id and its expiry, for which the package has another type.
_WHOLE_SESSION = ("session.created", "session.updated")


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    kinds: dict[str, Any] = {
        "client": RealtimeClientEvent,
        "server": RealtimeServerEvent,
        "session": RealtimeSessionCreateResponse,
    }
    return TypeAdapter(kinds[kind])


def problems_of_client_event(event: object) -> list[str]:
    """The problems of an event from a client."""
    return _problems("client", event)


def problems_of_server_event(event: object) -> list[str]:
    """The problems of an event from a server."""
    if isinstance(event, dict) and event.get("type") in _WHOLE_SESSION and isinstance(event.get("session"), dict):
        envelope = {**event, "session": {"type": event["session"].get("type")}}
        return _problems("server", envelope) + [f"session.{what}" for what in _problems("session", event["session"])]
    return _problems("server", event)


def _problems(kind: str, event: object) -> list[str]:
    text = json.dumps(event)
    try:
        value = _adapter(kind).validate_json(text, strict=True)
    except ValidationError as failure:
        named = str(event.get("type")) if isinstance(event, dict) else "?"
        first = _first_error(kind, named, text) or failure.errors()[0]
        return [f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']} (in {named})"]
    return [f"{path}: unknown field" for path in _unknown_fields(value, "")]


def _first_error(kind: str, named: str, text: str) -> Any:
    """The first problem of an event; None if there is no problem, or if no event type has the name `named`. The event
    is checked only against the type with this name, because a check against all types would report problems for each
    type."""
    meant = _models(kind).get(named)
    if meant is None:
        return None
    try:
        meant.validate_json(text, strict=True)
    except ValidationError as failure:
        return failure.errors()[0]
    return None


@cache
def _models(kind: str) -> dict[str, TypeAdapter[Any]]:
    """Maps the name of each event type to the validator for events of this type."""
    union = {"client": RealtimeClientEvent, "server": RealtimeServerEvent}.get(kind)
    models = get_args(get_args(union)[0]) if union is not None else ()
    return {get_args(model.model_fields["type"].annotation)[0]: TypeAdapter(model) for model in models}


def _unknown_fields(value: object, path: str) -> Iterator[str]:
    if isinstance(value, BaseModel):
        for name in value.model_extra or {}:
            yield f"{path}{name}"
        for name in type(value).model_fields:
            yield from _unknown_fields(getattr(value, name), f"{path}{name}.")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _unknown_fields(item, f"{path}{number}.")
