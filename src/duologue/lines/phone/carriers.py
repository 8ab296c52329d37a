"""The messages of phone carriers on their media WebSockets, in both directions.

Twilio and Telnyx use the same messages with different field names, so a `Carrier` lists the names, and one parser
serves both. All functions are pure. Rule: everything that a carrier sends is checked here, and no error message quotes
what the carrier sent.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from duologue.core.errors import DuologueError

TEXT_MAX = 1 << 20  # characters of a message; one with 20 ms of sound has about 300
PARAMETERS_MAX = 50
KEYS = "0123456789*#ABCD"
_INBOUND = ("inbound", "inbound_track")


class Malformed(DuologueError):
    """A message from a carrier is invalid. The error text quotes nothing from that message."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """What is specific to one carrier's messages. The fields from `stream_id` to `sample_rate` hold the names of the
    JSON fields in the carrier's messages."""

    name: str
    stream_id: str
    call_id: str  # in the start message
    parameters: str
    media_format: str
    sample_rate: str
    names_stream: bool  # must messages to the carrier contain the stream's id?
    l16_byte_order: str = "big"  # RFC 2586
    encodings: Mapping[str, str] = field(default_factory=dict)  # the carrier's name of each encoding, and our name

    def __hash__(self) -> int:
        return hash(self.name)


TWILIO = Carrier(
    name="twilio",
    stream_id="streamSid",
    call_id="callSid",
    parameters="customParameters",
    media_format="mediaFormat",
    sample_rate="sampleRate",
    names_stream=True,
    encodings={"audio/x-mulaw": "PCMU"},
)
TELNYX = Carrier(
    name="telnyx",
    stream_id="stream_id",
    call_id="call_control_id",
    parameters="custom_parameters",
    media_format="media_format",
    sample_rate="sample_rate",
    names_stream=False,
    encodings={"PCMU": "PCMU", "PCMA": "PCMA", "L16": "L16"},
)
CARRIERS: dict[str, Carrier] = {carrier.name: carrier for carrier in (TWILIO, TELNYX)}


# -- Messages from a carrier


@dataclass(frozen=True, slots=True)
class Connected:
    """The socket is open."""


@dataclass(frozen=True, slots=True)
class Started:
    """The stream of a call has started. `encoding` is PCMU, PCMA or L16; empty if the carrier uses another encoding."""

    stream: str
    call: str
    encoding: str
    rate_hz: int
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.stream)


@dataclass(frozen=True, slots=True)
class Media:
    """A piece of sound. `chunk` is the number of the piece, counted from 1; 0 if the carrier doesn't number the
    pieces."""

    stream: str
    chunk: int
    payload: bytes
    is_inbound: bool = True


@dataclass(frozen=True, slots=True)
class Pressed:
    """The caller has pressed a key."""

    stream: str
    digit: str


@dataclass(frozen=True, slots=True)
class Marked:
    """The carrier has returned a mark: all sound before the mark has been played or cleared."""

    stream: str
    name: str


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The carrier has ended the stream."""

    stream: str


@dataclass(frozen=True, slots=True)
class UnknownMessage:
    """A message of an unknown kind, or an error that the carrier reports."""

    is_error: bool = False


CarrierMessage: TypeAlias = Connected | Started | Media | Pressed | Marked | StreamEnded | UnknownMessage


def read_message(carrier: Carrier, text: str) -> CarrierMessage:
    """Parse and check a message from a carrier. Raises Malformed if it is invalid."""
    data = _parse(text)
    event = data.get("event")
    if not isinstance(event, str):
        raise Malformed("the message has no event")
    if event == "connected":
        return Connected()
    read = _READERS.get(event)
    return read(carrier, data) if read is not None else UnknownMessage(is_error=event == "error")


def _parse(text: str) -> dict[str, Any]:
    if len(text) > TEXT_MAX:
        raise Malformed(f"the message has more than {TEXT_MAX} characters")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise Malformed("the message isn't JSON") from None
    if not isinstance(data, dict):
        raise Malformed("the message isn't a JSON object")
    return data


def _read_start(carrier: Carrier, data: dict[str, Any]) -> Started:
    start = _part(data, "start")
    form = _part(start, carrier.media_format)
    encoding = carrier.encodings.get(_text(form, "encoding"), "")
    stream = _text(data, carrier.stream_id)
    rate_hz = _number(form, carrier.sample_rate)
    return Started(stream, _text(start, carrier.call_id), encoding, rate_hz, _parameters(start, carrier.parameters))


def _read_media(carrier: Carrier, data: dict[str, Any]) -> Media:
    media = _part(data, "media")
    try:
        payload = base64.b64decode(_text(media, "payload"), validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("the payload isn't base64") from None
    chunk = _number(media, "chunk") if "chunk" in media else 0
    return Media(_stream(carrier, data), chunk, payload, media.get("track", "inbound") in _INBOUND)


def _read_dtmf(carrier: Carrier, data: dict[str, Any]) -> Pressed | UnknownMessage:
    digit = _text(_part(data, "dtmf"), "digit").upper()
    is_key = len(digit) == 1 and digit in KEYS
    return Pressed(_stream(carrier, data), digit) if is_key else UnknownMessage()


def _read_mark(carrier: Carrier, data: dict[str, Any]) -> Marked:
    return Marked(_stream(carrier, data), _text(_part(data, "mark"), "name"))


def _read_stop(carrier: Carrier, data: dict[str, Any]) -> StreamEnded:
    return StreamEnded(_stream(carrier, data))


_READERS: dict[str, Callable[[Carrier, dict[str, Any]], CarrierMessage]] = {
    "start": _read_start,
    "media": _read_media,
    "dtmf": _read_dtmf,
    "mark": _read_mark,
    "stop": _read_stop,
}


def _part(data: dict[str, Any], name: str) -> dict[str, Any]:
    part = data.get(name)
    if not isinstance(part, dict):
        raise Malformed(f"{name}: expected an object")
    return part


def _text(data: dict[str, Any], name: str) -> str:
    text = data.get(name)
    if not isinstance(text, str):
        raise Malformed(f"{name}: expected text")
    return text


def _stream(carrier: Carrier, data: dict[str, Any]) -> str:
    return _text(data, carrier.stream_id)


def _number(data: dict[str, Any], name: str) -> int:
    """Read a whole number, which a carrier may send as text or as a JSON number."""
    value = data.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    if type(value) is int and 0 <= value < 10**15:
        return value
    raise Malformed(f"{name}: expected a whole number")


def _parameters(start: dict[str, Any], name: str) -> dict[str, str]:
    """The parameters of a call, at most PARAMETERS_MAX. A carrier sends them as an object, or as a list of names and
    values. They come from a program that we don't know, so a parameter is ignored if its name or its value isn't
    text."""
    given = start.get(name)
    if isinstance(given, dict):
        pairs = list(given.items())
    elif isinstance(given, list):
        pairs = [(item.get("name"), item.get("value")) for item in given if isinstance(item, dict)]
    else:
        pairs = []
    texts = [(key, value) for key, value in pairs if isinstance(key, str) and isinstance(value, str)]
    return dict(texts[:PARAMETERS_MAX])


# -- Messages to a carrier


def write_media(carrier: Carrier, stream: str, payload: bytes) -> str:
    """The message that makes the carrier play a piece of sound."""
    return _write(carrier, stream, "media", {"payload": base64.b64encode(payload).decode("ascii")})


def media_writer(carrier: Carrier, stream: str) -> Callable[[bytes], str]:
    """Return a function that does the same as `write_media` for one stream, but faster. It takes the payload and
    returns the message. As it is called 50 times a second, the constant part of the message is made in advance."""
    head, _, tail = write_media(carrier, stream, b"?").rpartition(base64.b64encode(b"?").decode("ascii"))
    return lambda payload: f"{head}{binascii.b2a_base64(payload, newline=False).decode('ascii')}{tail}"


def write_mark(carrier: Carrier, stream: str, name: str) -> str:
    """The message with a mark, which the carrier returns when all sound before the mark has been played or cleared."""
    return _write(carrier, stream, "mark", {"name": name})


def write_clear(carrier: Carrier, stream: str) -> str:
    """The message that makes the carrier drop all sound that it has buffered."""
    return _write(carrier, stream, "clear", None)


def _write(carrier: Carrier, stream: str, event: str, content: dict[str, str] | None) -> str:
    message: dict[str, Any] = {"event": event}
    if carrier.names_stream:
        message[carrier.stream_id] = stream
    if content is not None:
        message[event] = content
    return json.dumps(message)
