"""The messages that a client may send, parsed from JSON (docs/protocol.md, version 1).

One table lists every message and its fields. Rule: anything that isn't in the table is refused. The refusal says in one
line what is wrong, and doesn't repeat what the client sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from duologue.core.errors import DuologueError
from duologue.observe.hearing_fact import Microphone
from duologue.runtime.receipts import RECEIPT_CHARS_MAX, RECEIPTS_MAX

from .sound_formats import OFFERS_MAX, SoundFormats
from .tickets import TICKET_CHARS_MAX

VERSION = 1
RATES_HZ = (8_000, 16_000, 24_000, 48_000)
_NAME_CHARS_MAX = 200
_MS_MAX = 24 * 3_600_000
_ID_MAX = 1 << 53
# Half of what fits into a frame's header, because a restored conversation counts on from the client's number.
_VOICE_MAX = 1 << 31
_SDP_CHARS_MAX = 32_768
_SURROGATES = re.compile("[\ud800-\udfff]")


class BadMessage(DuologueError, ValueError):
    """A message that doesn't follow the protocol."""


class WrongVersion(BadMessage):
    """The client uses a version of the protocol that this server doesn't support."""


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A message whose type and fields have been checked."""

    type: str
    payload: dict[str, Any]


def _whole(largest: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and 0 <= value <= largest


def _is_text(value: Any) -> bool:
    """Is this a text that UTF-8 can encode? A text with lone surrogates isn't."""
    return isinstance(value, str) and not _SURROGATES.search(value)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _NAME_CHARS_MAX and value.isprintable()


def _is_seat(value: Any) -> bool:
    """Is this a valid seat (the id of a browser)? An empty seat isn't valid, because several clients would share it."""
    return _is_name(value) and bool(value.strip())


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _are_formats(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= OFFERS_MAX and all(map(_is_name, value))


def _is_audio(value: Any) -> bool:
    if not isinstance(value, dict) or not set(value) <= {"rate_hz", *SoundFormats._fields}:
        return False
    rate_hz = value.get("rate_hz", 16_000)
    offers = [value.get(direction, []) for direction in SoundFormats._fields]
    return type(rate_hz) is int and rate_hz in RATES_HZ and all(map(_are_formats, offers))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _ID_MAX  # false for NaN


def _is_position(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and set(value) - {"held"} == {"voice", "ms", "chunk"}
        and _is_flag(value.get("held", False))
        and _whole(_VOICE_MAX)(value["voice"])
        and _whole(_MS_MAX)(value["ms"])
        and _whole(_ID_MAX)(value["chunk"])
    )


def _are_receipts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= RECEIPTS_MAX
        and all(isinstance(one, str) and one.isascii() and len(one) <= RECEIPT_CHARS_MAX for one in value)
    )


@dataclass(frozen=True, slots=True)
class _Field:
    check: Callable[[Any], bool]
    what: str
    required: bool = True


_VOICE = _Field(_whole(_VOICE_MAX), "a whole number")
_MS = _Field(_whole(_MS_MAX), "whole milliseconds")
_CALL = _Field(_whole(_ID_MAX), "the number of a call")
_TEXT = _Field(_is_text, "text")
_NAME_MAYBE = _Field(_is_name, f"text of at most {_NAME_CHARS_MAX} printable characters", required=False)
_TOKEN = _Field(
    lambda value: isinstance(value, str) and len(value) <= TICKET_CHARS_MAX and value.isprintable(),
    f"text of at most {TICKET_CHARS_MAX} printable characters",
    required=False,
)
_FLAG = _Field(_is_flag, "true or false", required=False)
_CALL_ID = _Field(lambda value: value is None or _is_name(value), "the id of a call in the list, or null")
_RATES = ", ".join(map(str, RATES_HZ))
_AUDIO_IS = f"{{rate_hz}}, one of {_RATES}, and optionally input and output: lists of formats, such as opus"
_HEARD = {"voice": _VOICE, "ms": _MS}
_MICROPHONES = tuple(state.value for state in Microphone)
_MICROPHONE = _Field(
    lambda value: isinstance(value, str) and value in _MICROPHONES, f"one of {', '.join(_MICROPHONES)}"
)

TABLE: dict[str, dict[str, _Field]] = {
    "hello": {
        "version": _Field(lambda value: type(value) is int and value == VERSION, f"{VERSION}"),
        "seat": _Field(_is_seat, "the client's own id"),
        "token": _TOKEN,
        "language": _NAME_MAYBE,
        "conversation": _NAME_MAYBE,
        "key": _NAME_MAYBE,
        "take_over": _FLAG,
        "audio": _Field(_is_audio, _AUDIO_IS, required=False),
        "played": _Field(_is_position, "{voice, ms, chunk}, and optionally held", required=False),
        "receipts": _Field(_are_receipts, f"at most {RECEIPTS_MAX} receipts that the server has sent", required=False),
    },
    "start": {"microphone": replace(_MICROPHONE, required=False)},
    "end": {},
    "type": {"text": _TEXT, "id": _NAME_MAYBE},
    "press": {},
    "release": {},
    "send": {},
    "interrupt": {},
    "suspend": {},
    "resume": {},
    "retry": {},
    "dismiss": {},
    "reconnect": {},
    "cancel": {"call": _CALL},
    "answer": {"call": _CALL, "text": _TEXT},
    "played": _HEARD,
    "finished": _HEARD,
    "stopped": _HEARD,
    "unplayable": {"voice": _VOICE},
    "debug": {"on": _Field(_is_flag, "true or false")},
    "microphone": {"state": _MICROPHONE},
    "key": {"key": replace(_NAME_MAYBE, required=True)},
    "attention": {"here": _Field(_is_flag, "true or false")},
    "calls": {"on": _FLAG},
    "watch": {"id": _CALL_ID},
    "webrtc": {"sdp": _Field(lambda value: _is_text(value) and len(value) <= _SDP_CHARS_MAX, "an offer as SDP")},
    "heard": {"rtp": _Field(_whole((1 << 32) - 1), "an RTP timestamp")},
    "carrier": {"carrier": _Field(lambda value: value == "socket", "socket")},
    "ping": {"t": _Field(_is_number, "a number")},
}

FACTS = frozenset({"played", "finished", "stopped", "unplayable", "heard", "microphone", "attention", "key", "debug"})
"""Types of messages with which a client reports about itself. Without a conversation they are ignored."""

WORDS = frozenset({"type", "answer"})
"""Types of messages with the user's words. If the conversation is over, the client is told that they are lost."""


def read_message(text: str) -> ClientMessage:
    """Parse and check one text frame. Raises BadMessage if the frame is invalid."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage("a text frame must be one JSON object") from None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise BadMessage("a message must be an object with a type")
    kind, payload = data["type"], data.get("payload", {})
    fields = TABLE.get(kind)
    if fields is None:
        raise BadMessage(f"unknown type; must be one of {', '.join(TABLE)}")
    if not isinstance(payload, dict):
        raise BadMessage(f"{kind}: payload must be an object")
    if kind == "hello" and payload.get("version") != VERSION:
        raise WrongVersion(f"this server uses version {VERSION} of the protocol: reload the page")
    if not payload.keys() <= fields.keys():
        raise BadMessage(f"{kind}: unknown field; allowed: {', '.join(fields) or 'none'}")
    for name, field in fields.items():
        if name not in payload:
            if field.required:
                raise BadMessage(f"{kind}: {name} is missing")
        elif not field.check(payload[name]):
            raise BadMessage(f"{kind}: {name} must be {field.what}")
    return ClientMessage(kind, payload)
