"""Converts messages from the server to values. One message can contain several values.

Rule: an unknown or unreadable part of a message becomes a value that says so, and changes nothing, because a server may
be newer than this code.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from duologue.ports.tool_call import ToolCall
from duologue.ports.usage import Usage

Json: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetupAccepted:
    """The session is open."""


@dataclass(frozen=True, slots=True)
class UserTranscribed:
    """The next piece of the transcript of the user's speech. With `is_final`, it is the last piece for this turn."""

    text: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class ModelSound:
    """The next piece of the answer's sound: PCM at 24 kHz."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class ModelWords:
    """The next piece of the transcript of the answer's sound."""

    text: str


@dataclass(frozen=True, slots=True)
class WrongSound:
    """The answer's sound is in a format that wasn't requested."""


@dataclass(frozen=True, slots=True)
class ModelCalls:
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class CallsCancelled:
    """The server no longer waits for the outputs of these tool calls."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerGenerated:
    """The server has sent all of the answer. The message that the turn is over may follow much later, when the server
    assumes that the answer was played."""


@dataclass(frozen=True, slots=True)
class AnswerInterrupted:
    """The server has stopped its answer because of something that we sent."""


@dataclass(frozen=True, slots=True)
class ModelTurnEnded:
    """The model's turn is over. `reason` is the server's reason for an unusual end, such as RESPONSE_REJECTED."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class GoingAway:
    """The server will close this connection in `left_ms`."""

    left_ms: int


@dataclass(frozen=True, slots=True)
class HandleChanged:
    """The server has sent a new handle, with which the session can be resumed. The handle is empty if the session can't
    be resumed now."""

    handle: str


@dataclass(frozen=True, slots=True)
class ModelUsage:
    usage: Usage


@dataclass(frozen=True, slots=True)
class ServerFault:
    """An error object. It isn't part of the protocol, but some gateways send such an object instead of a message."""

    code: int
    status: str


@dataclass(frozen=True, slots=True)
class UnknownPart:
    name: str


@dataclass(frozen=True, slots=True)
class UnreadablePart:
    name: str


Came: TypeAlias = (
    SetupAccepted
    | UserTranscribed
    | ModelSound
    | ModelWords
    | WrongSound
    | ModelCalls
    | CallsCancelled
    | AnswerGenerated
    | AnswerInterrupted
    | ModelTurnEnded
    | GoingAway
    | HandleChanged
    | ModelUsage
    | ServerFault
    | UnknownPart
    | UnreadablePart
)


def read(text: str | bytes) -> list[Came]:
    """The values in this message, in the order in which they must be processed. Never raises an exception."""
    try:
        message: Any = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        return [UnreadablePart("")]
    found: list[Came] = []
    for name, value in message.items():
        reader = READERS.get(name)
        if reader is None:
            found.append(UnknownPart(str(name)))
            continue
        try:
            found += reader(value)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, binascii.Error):
            found.append(UnreadablePart(str(name)))
    return found


# -- Readers of the parts of a message


def _text(holder: Json, name: str) -> str:
    """The text in this field; empty if the field is missing. Raises TypeError if the value isn't a string."""
    value = holder.get(name) or ""
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _content(content: Json) -> list[Came]:
    found: list[Came] = [UnknownPart(f"serverContent.{name}") for name in content if name not in CONTENT_FIELDS]
    if said := content.get("inputTranscription"):
        found.append(UserTranscribed(_text(said, "text"), bool(said.get("finished"))))
    for part in (content.get("modelTurn") or {}).get("parts") or ():
        found += _part(part)
    if words := _text(content.get("outputTranscription") or {}, "text"):
        found.append(ModelWords(words))
    if content.get("interrupted"):
        found.append(AnswerInterrupted())
    if content.get("generationComplete"):
        found.append(AnswerGenerated())
    if content.get("turnComplete"):
        found.append(ModelTurnEnded(_text(content, "turnCompleteReason")))
    return found


def _part(part: Json) -> list[Came]:
    """The sound in this part; an empty list if it has no sound. Text in the part is ignored, because it is a thought of
    the model or repeats the transcript."""
    blob = part.get("inlineData")
    if blob is None or part.get("thought"):
        return []
    mime = _text(blob, "mimeType")
    rate = re.search(r"rate=(\d+)", mime)
    if not mime.startswith("audio/pcm") or (rate is not None and rate[1] != "24000"):
        return [WrongSound()]
    pcm = base64.b64decode(blob["data"], validate=True)
    return [ModelSound(pcm)] if pcm else []


def _calls(value: Json) -> list[Came]:
    calls = tuple(
        ToolCall(_name(call), _arguments(call), _text(call, "id")) for call in value.get("functionCalls") or ()
    )
    return [ModelCalls(calls)] if calls else []


def _name(call: Json) -> str:
    name = _text(call, "name")
    if not name:
        raise ValueError("a function call has no name")
    return name


def _arguments(call: Json) -> dict[str, Any]:
    arguments = call.get("args") or {}
    if not isinstance(arguments, dict):
        raise TypeError("the args of a function call must be an object")
    return arguments


def _cancelled(value: Json) -> list[Came]:
    ids = value.get("ids") or ()
    if not all(isinstance(name, str) for name in ids):
        raise TypeError("the ids of cancelled calls must be strings")
    return [CallsCancelled(tuple(ids))]


def _going_away(value: Json) -> list[Came]:
    """Read how long the connection stays open. The time is a duration in protobuf's JSON form, such as "9.5s"."""
    left = re.fullmatch(r"(\d+(?:\.\d+)?)s", _text(value, "timeLeft"))
    return [GoingAway(round(float(left[1]) * 1000) if left else 0)]


def _handle(value: Json) -> list[Came]:
    return [HandleChanged(_text(value, "newHandle") if value.get("resumable") else "")]


def _usage(value: Json) -> list[Came]:
    return [
        ModelUsage(
            Usage(
                input_tokens=int(value.get("promptTokenCount") or 0),
                cached_tokens=int(value.get("cachedContentTokenCount") or 0),
                output_tokens=int(value.get("responseTokenCount") or 0) + int(value.get("thoughtsTokenCount") or 0),
            )
        )
    ]


def _fault(value: Json) -> list[Came]:
    return [ServerFault(int(value.get("code") or 0), _text(value, "status"))]


READERS: dict[str, Callable[[Any], list[Came]]] = {
    "setupComplete": lambda value: [SetupAccepted()],  # noqa: ARG005
    "serverContent": _content,
    "toolCall": _calls,
    "toolCallCancellation": _cancelled,
    "goAway": _going_away,
    "sessionResumptionUpdate": _handle,
    "usageMetadata": _usage,
    "error": _fault,
    "voiceActivity": lambda value: [],  # noqa: ARG005 - we decide about turns
    "voiceActivityDetectionSignal": lambda value: [],  # noqa: ARG005
}
CONTENT_FIELDS = frozenset(
    (
        "modelTurn",
        "turnComplete",
        "turnCompleteReason",
        "generationComplete",
        "interrupted",
        "inputTranscription",
        "outputTranscription",
        "interimInputTranscription",
        "groundingMetadata",
        "urlContextMetadata",
        "waitingForInput",
    )
)
