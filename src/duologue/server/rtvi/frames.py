"""The frames of Pipecat's WebSocket transport: protobuf messages of the type `pipecat.Frame`, written and read by hand.

A frame holds one of: text (1), audio (2), transcription (3), message (4), interruption (5). Duologue uses only audio,
messages and interruptions. Rule: bytes that aren't a complete and valid frame raise InvalidFrame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from duologue.core.errors import DuologueError

TEXT, AUDIO, TRANSCRIPTION, MESSAGE, INTERRUPTION = 1, 2, 3, 4, 5
NAMES = {TEXT: "text", TRANSCRIPTION: "transcription", INTERRUPTION: "interruption"}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BYTES_MAX = 10
FIELDS_MAX = 100  # of one message; the messages of the protocol have at most six
Value: TypeAlias = int | bytes


class InvalidFrame(DuologueError, ValueError):
    """The bytes aren't a valid frame. The message says why, and doesn't quote the bytes."""


@dataclass(frozen=True, slots=True)
class AudioOfClient:
    """A piece of sound: 16-bit PCM."""

    pcm: bytes = field(repr=False)
    rate_hz: int = 16_000
    channels: int = 1


@dataclass(frozen=True, slots=True)
class TextOfClient:
    """A message of the protocol, as JSON."""

    json: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class UnusedFrame:
    """A valid frame of a kind that the server doesn't use."""

    kind: str


FrameOfClient: TypeAlias = AudioOfClient | TextOfClient | UnusedFrame


# -- Reading


def read_frame(data: bytes) -> FrameOfClient:
    """Read the frame in these bytes. Raises InvalidFrame. Unknown fields are skipped, as protobuf requires. If the
    bytes contain several frames, the last one is returned."""
    found: tuple[int, bytes] | None = None
    for number, value in fields_of(data):
        if TEXT <= number <= INTERRUPTION:
            if not isinstance(value, bytes):
                raise InvalidFrame(f"field {number} of the frame isn't a message")
            found = number, value
    if found is None:
        raise InvalidFrame("the frame holds neither audio nor a message")
    kind, inner = found
    if kind == AUDIO:
        return _read_audio(inner)
    if kind == MESSAGE:
        return TextOfClient(_text(dict(fields_of(inner)).get(1, b"")))
    return UnusedFrame(NAMES[kind])


def _read_audio(inner: bytes) -> AudioOfClient:
    given = dict(fields_of(inner))
    pcm, rate_hz, channels = given.get(3, b""), given.get(4, 0), given.get(5, 0)
    if not isinstance(pcm, bytes) or not isinstance(rate_hz, int) or not isinstance(channels, int):
        raise InvalidFrame("a field of the audio has the wrong type")
    return AudioOfClient(pcm, rate_hz, channels)


def fields_of(data: bytes) -> Iterator[tuple[int, Value]]:
    """The fields of a protobuf message: their numbers and values, in order. Raises InvalidFrame."""
    at = count = 0
    while at < len(data):
        count += 1
        if count > FIELDS_MAX:
            raise InvalidFrame(f"a message has more than {FIELDS_MAX} fields")
        tag, at = _read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if not number:
            raise InvalidFrame("the frame has a field with the number 0, which protobuf doesn't allow")
        if wire == _VARINT:
            value, at = _read_varint(data, at)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _read_varint(data, at)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise InvalidFrame(f"wire type {wire} doesn't exist in proto3")
        if size > len(data) - at:
            raise InvalidFrame("a field is longer than the frame")
        yield number, data[at : at + size]
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(_VARINT_BYTES_MAX):
        if at + count >= len(data):
            raise InvalidFrame("the frame ends in the middle of a number")
        byte = data[at + count]
        value |= (byte & 0x7F) << (7 * count)
        if not byte & 0x80:
            return value, at + count + 1
    raise InvalidFrame("a number in the frame is too long")


def _text(value: Value) -> str:
    if not isinstance(value, bytes):
        raise InvalidFrame("the text of the message has the wrong type")
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InvalidFrame("the text of the message isn't UTF-8") from None


# -- Writing


def audio_frame(pcm: bytes, rate_hz: int) -> bytes:
    """A frame with one channel of 16-bit PCM."""
    inner = _bytes_field(2, b"audio") + _bytes_field(3, pcm) + _varint_field(4, rate_hz) + _varint_field(5, 1)
    return _bytes_field(AUDIO, inner)


def message_frame(text: str) -> bytes:
    """A frame with a message of the protocol, as JSON."""
    return _bytes_field(MESSAGE, _bytes_field(1, text.encode("utf-8", "replace")))


def interruption_frame() -> bytes:
    """A frame that tells the client to drop the sound that it has."""
    return _bytes_field(INTERRUPTION, _bytes_field(2, b"interruption"))


def _bytes_field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _varint_field(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
