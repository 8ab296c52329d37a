"""The messages that an RTVI client may send, as values, and how they are read from JSON.

Each message is `{"label": "rtvi-ai", "type", "id", "data"}`. Rule: a message is read completely before it has an
effect. If it can't be read, MessageRefused is raised.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .refusal import MessageRefused, quoted

LABEL = "rtvi-ai"
ID_CHARS_MAX = 200
KEYS = "0123456789*#"
KEYS_MAX = 64
JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message from the client. `id` is the id that the client gave it."""

    id: str


@dataclass(frozen=True, slots=True)
class ClientReady(IncomingMessage):
    """The client is ready to get messages. `version` is the version of the protocol that it speaks."""

    version: str
    library: str = ""


@dataclass(frozen=True, slots=True)
class DisconnectBot(IncomingMessage):
    """The client asks the agent to leave, which ends the conversation."""


@dataclass(frozen=True, slots=True)
class SendText(IncomingMessage):
    """A text that the user has typed, or that the client's program has sent for the user. `runs` says whether it is
    answered now. `speaks` says whether the answer is spoken, or only shown."""

    text: str = field(repr=False)
    runs: bool = True
    speaks: bool = True
    is_agents: bool = False  # it counts as said by the agent


@dataclass(frozen=True, slots=True)
class SendProgramMessage(IncomingMessage):
    """A message from the client's program to the agent's program."""

    kind: str
    data: Any = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class GiveResult(IncomingMessage):
    """The result of a function that the client has run."""

    call_id: str
    name: str
    result: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PressKeys(IncomingMessage):
    """The user has pressed these keys of a telephone."""

    keys: str


def read_message(text: str) -> IncomingMessage:
    """Read the message in this JSON text. Raises MessageRefused if it isn't valid."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise MessageRefused("The message isn't JSON.") from None
    if not isinstance(given, dict):
        raise MessageRefused("The message isn't a JSON object.")
    id_ = given.get("id")
    if not isinstance(id_, str) or not 0 < len(id_) <= ID_CHARS_MAX:
        raise MessageRefused(f"The message has no 'id' that is a string of 1 to {ID_CHARS_MAX} characters.")
    if given.get("label") != LABEL:
        raise MessageRefused(f"The message's 'label' isn't '{LABEL}'.", id_)
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in READERS:
        why = UNSUPPORTED.get(kind, "") if isinstance(kind, str) else ""
        raise MessageRefused(f"Unsupported type {quoted(kind)}{why}.", id_)
    data = given.get("data")
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise MessageRefused("The message's 'data' isn't an object.", id_)
    return READERS[kind](Reader(id_, data))


class Reader:
    """Reads the fields of one message's data."""

    def __init__(self, id_: str, data: JsonObject) -> None:
        self.id = id_
        self.data = data

    def refuse(self, what: str) -> MessageRefused:
        return MessageRefused(what, self.id)

    def text(self, name: str, missing: str | None = None) -> str:
        value = self.data.get(name, missing)
        if not isinstance(value, str):
            raise self.refuse(f"'{name}' must be a string.")
        return value

    def flag(self, given: JsonObject, name: str, missing: bool) -> bool:
        value = given.get(name)
        if value is None:
            return missing
        if not isinstance(value, bool):
            raise self.refuse(f"'{name}' must be true or false.")
        return value

    def part(self, name: str) -> JsonObject:
        value = self.data.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.refuse(f"'{name}' must be an object.")
        return value


def _ready(r: Reader) -> IncomingMessage:
    about = r.data.get("about")
    library = about.get("library") if isinstance(about, dict) else ""
    return ClientReady(r.id, r.text("version", ""), library if isinstance(library, str) else "")


def _send_text(r: Reader) -> IncomingMessage:
    options = r.part("options")
    text = r.text("content")
    if not text.strip():
        raise r.refuse("'content' is empty.")
    return SendText(r.id, text, r.flag(options, "run_immediately", True), r.flag(options, "audio_response", True))


def _append(r: Reader) -> IncomingMessage:
    role = r.text("role")
    if role not in ("user", "assistant"):
        raise r.refuse("'role' must be 'user' or 'assistant'.")
    runs = r.flag(r.data, "run_immediately", False)
    if runs and role == "assistant":
        raise r.refuse("'run_immediately' needs the role 'user': an agent doesn't answer itself.")
    text = r.text("content")
    if not text.strip():
        raise r.refuse("'content' is empty.")
    return SendText(r.id, text, runs, True, role == "assistant")


def _program_message(r: Reader) -> IncomingMessage:
    return SendProgramMessage(r.id, r.text("t"), r.data.get("d"))


def _result(r: Reader) -> IncomingMessage:
    result = r.data.get("result")
    if not isinstance(result, str | dict | list | int | float | bool):
        raise r.refuse("'result' must be a string or an object.")
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return GiveResult(r.id, r.text("tool_call_id"), r.text("function_name", ""), text)


def _keys(r: Reader) -> IncomingMessage:
    given = r.data.get("buttons", [r.data["button"]] if "button" in r.data else None)
    if not isinstance(given, list) or not 0 < len(given) <= KEYS_MAX:
        raise r.refuse(f"'buttons' must be a list of 1 to {KEYS_MAX} keys.")
    if not all(isinstance(key, str) and len(key) == 1 and key in KEYS for key in given):
        raise r.refuse(f"'buttons' may contain only the keys {KEYS}.")
    return PressKeys(r.id, "".join(given))


READERS: dict[str, Callable[[Reader], IncomingMessage]] = {
    "client-ready": _ready,
    "disconnect-bot": lambda r: DisconnectBot(r.id),
    "send-text": _send_text,
    "append-to-context": _append,
    "client-message": _program_message,
    "llm-function-call-result": _result,
    "dtmf": _keys,
}
# Types of the protocol that this server does not support, and what to do instead.
UNSUPPORTED = {
    "send-file": ": this server takes no files",
    "ui-event": ": send a client message instead",
    "ui-snapshot": ": send a client message instead",
    "ui-cancel-job-group": ": this server has no job groups",
    "raw-audio": ": send sound as audio frames",
    "raw-audio-batch": ": send sound as audio frames",
}
