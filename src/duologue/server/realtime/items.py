"""The items of a conversation in the protocol's form, and how the client's items change the history that the agent
gets.

Rule: of an answer that was cut off, only the part that was heard is shown.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from duologue.ports.history import AgentSaid, CallOutput, Item, News, Note, UserSaid

from .client_events import ID_CHARS_MAX
from .fields import JsonObject, check_names, one_of, optional_text, read_object, read_text
from .refusal import EventRefused, invalid, missing, unsupported, wrong_type

ITEMS_MAX = 1_000  # the oldest ones are forgotten
CREATED_MAX = 200  # that a client has created and the conversation has no words of
TEXT_CHARS_MAX = 100_000


class ItemKind(Enum):
    """The kind of an item."""

    SYSTEM = "system"
    USER_TEXT = "user_text"
    USER_AUDIO = "user_audio"
    AGENT_TEXT = "agent_text"
    AGENT_AUDIO = "agent_audio"
    CALL = "function_call"
    OUTPUT = "function_call_output"


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """One item. `turn`, `reply`, `voice` and `call` say what the item is about: the conversation's number of a turn, a
    reply, the sound of a reply, or a tool call. Each is 0 if the item isn't about such a thing."""

    id: str
    kind: ItemKind
    text: str | None = None  # its text, transcript, arguments or output
    status: str = "completed"
    turn: int = 0
    reply: int = 0
    voice: int = 0
    call: int = 0
    name: str = ""
    call_id: str = ""
    sent_ms: int = 0  # of sound that the client was sent
    heard_ms: int | None = None  # of sound that was cut off
    is_created: bool = False  # by the client
    said: str = field(default="", repr=False)  # the part of the text that is spoken
    shown: str = field(default="", repr=False)  # the part of the text that is only shown

    def as_json(self) -> JsonObject:
        shared = {"id": self.id, "object": "realtime.item", "status": self.status}
        if self.kind is ItemKind.CALL:
            called = {"name": self.name, "call_id": self.call_id, "arguments": self.text or ""}
            return {**shared, "type": "function_call", **called}
        if self.kind is ItemKind.OUTPUT:
            return {**shared, "type": "function_call_output", "call_id": self.call_id, "output": self.text or ""}
        return {**shared, "type": "message", "role": _ROLES[self.kind], "content": self.content()}

    def content(self) -> list[JsonObject]:
        if self.status == "in_progress" and not self.text:
            return []
        match self.kind:
            case ItemKind.USER_AUDIO:
                return [{"type": "input_audio", "transcript": self.text}]
            case ItemKind.AGENT_AUDIO:
                return [{"type": "output_audio", "transcript": self.text or ""}]
            case ItemKind.AGENT_TEXT:
                return [{"type": "output_text", "text": self.text or ""}]
        return [{"type": "input_text", "text": self.text or ""}]

    def as_said(self) -> Item:
        """The entry in the brain's history for an item that the client created."""
        text = self.text or ""
        match self.kind:
            case ItemKind.USER_TEXT | ItemKind.USER_AUDIO:
                return UserSaid(0, text)
            case ItemKind.AGENT_TEXT | ItemKind.AGENT_AUDIO:
                return AgentSaid(0, text)
            case ItemKind.CALL:
                return Note(f"The assistant has called the tool {self.name} with {text}")
            case ItemKind.OUTPUT:
                return Note(f"The tool has returned: {text}")
        return Note(text)

    def is_about(self, item: Item) -> bool:
        """Is this entry of the history about this item?"""
        match item:
            case UserSaid():
                return bool(self.turn) and item.turn == self.turn
            case AgentSaid():
                return bool(self.reply) and item.reply == self.reply and self.kind is not ItemKind.CALL
            case CallOutput() | News():
                return bool(self.call) and item.call == self.call and self.kind is ItemKind.OUTPUT
        return False


_ROLES = {
    ItemKind.SYSTEM: "system",
    ItemKind.USER_TEXT: "user",
    ItemKind.USER_AUDIO: "user",
    ItemKind.AGENT_TEXT: "assistant",
    ItemKind.AGENT_AUDIO: "assistant",
}


def as_history(
    history: Iterable[Item],
    items: Iterable[ItemRecord],
    deleted: Iterable[ItemRecord] = (),
    typing: Collection[str] = (),
) -> tuple[Item, ...]:
    """The history with the client's changes: items that the client created are inserted in their position, and items
    that it deleted are left out. Items whose ids are in `typing` aren't inserted: they are being passed on as a turn of
    the user, and the history contains this turn."""
    shown = tuple(items)
    gone = tuple(deleted)
    anchored: dict[int, list[Item]] = {}  # by the place of the item before them, which the history has; -1: none
    anchor = -1
    for at, record in enumerate(shown):
        if record.is_created and not (record.turn or record.call or record.id in typing):
            anchored.setdefault(anchor, []).append(record.as_said())
        else:
            anchor = at
    if not gone and not anchored:
        return tuple(history)
    merged: list[Item] = anchored.pop(-1, [])
    for entry in history:
        if any(record.is_about(entry) for record in gone):
            continue
        merged.append(entry)
        if anchored:
            place = next((at for at, record in enumerate(shown) if record.is_about(entry)), -1)
            merged += anchored.pop(place, [])
    for rest in anchored.values():
        merged += rest
    return tuple(merged)


# -- Items that a client creates


def read_item(given: JsonObject, new_id: str) -> ItemRecord:
    """Read the item that the client wants to create. Raises EventRefused if it isn't valid."""
    kind = given.get("type")
    if kind is None:
        raise missing("item.type")
    id_ = optional_text(given, "id", "item.", ID_CHARS_MAX) or new_id
    if kind == "function_call_output":
        check_names(given, ("id", "object", "status", "type", "call_id", "output"), "item.")
        called = read_text(given, "call_id", "item.", ID_CHARS_MAX)
        text = read_text(given, "output", "item.", TEXT_CHARS_MAX)
        return ItemRecord(id_, ItemKind.OUTPUT, text, call_id=called, is_created=True)
    if kind == "function_call":
        check_names(given, ("id", "object", "status", "type", "call_id", "name", "arguments"), "item.")
        name, text = read_text(given, "name", "item.", 64), read_text(given, "arguments", "item.", TEXT_CHARS_MAX)
        called = optional_text(given, "call_id", "item.", ID_CHARS_MAX) or ""
        return ItemRecord(id_, ItemKind.CALL, text, name=name, call_id=called, is_created=True)
    if isinstance(kind, str) and kind.startswith("mcp_"):
        raise unsupported("item.type", "only the agent can use MCP servers")
    if kind != "message":
        raise invalid("item.type", "supported values are: 'message', 'function_call', 'function_call_output'")
    check_names(given, ("id", "object", "status", "type", "role", "content"), "item.")
    role = one_of(given.get("role"), "item.role", ("system", "user", "assistant"))
    kinds = {"system": ItemKind.SYSTEM, "user": ItemKind.USER_TEXT, "assistant": ItemKind.AGENT_TEXT}
    return ItemRecord(id_, kinds[role], _read_content(given, role), is_created=True)


def _read_content(given: JsonObject, role: str) -> str:
    content = given.get("content")
    if not isinstance(content, list):
        raise wrong_type("item.content", "an array")
    texts = [_read_part(read_object(part, "item.content"), role, at) for at, part in enumerate(content)]
    text = "\n".join(one for one in texts if one)
    if len(text) > TEXT_CHARS_MAX:
        raise invalid("item.content", f"at most {TEXT_CHARS_MAX} characters are allowed")
    return text


def _read_part(part: JsonObject, role: str, at: int) -> str:
    path = f"item.content[{at}]."
    kind = part.get("type")
    wanted = "output_text" if role == "assistant" else "input_text"
    if kind in ("text", "audio"):
        raise EventRefused(
            "beta_api_shape_disabled",
            f"'{kind}' belongs to the beta protocol: use '{wanted}'.",
            f"{path}type",
        )
    if kind == "output_audio" and role == "assistant":
        check_names(part, ("type", "audio", "transcript"), path)
        return optional_text(part, "transcript", path) or ""
    if kind == "input_audio":
        raise unsupported(f"{path}type", "send sound with input_audio_buffer.append")
    if kind == "input_image":
        raise unsupported(f"{path}type", "the agent can't see images")
    one_of(kind, f"{path}type", (wanted,))
    check_names(part, ("type", "text"), path)
    return read_text(part, "text", path)


def arguments_text(arguments: dict[str, Any]) -> str:
    """The arguments of a tool call as JSON text, the form that the protocol requires."""
    return json.dumps(arguments, ensure_ascii=False)
