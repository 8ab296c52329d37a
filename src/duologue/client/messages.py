"""The frames of the protocol as values: JSON messages and sound, in both directions.

Rule: a message of an unknown type is read like any other, because a newer server may send more types.
"""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

VERSION = 1
VOICE, CUE, AMBIENT = 1, 2, 3  # kinds of sound
OUTPUT_HZ = 24_000
SAMPLES_PER_MS = OUTPUT_HZ // 1000
_PREFIX = "duologue."
_HEADER = struct.Struct("<BBHII")


class ServerSaid(NamedTuple):
    """One message from the server. `kind` is its type without the prefix, such as "caption" or "state"."""

    kind: str
    payload: dict[str, Any]


class VoiceChunk(NamedTuple):
    """A piece of sound: 16-bit mono PCM at 24 kHz. `number` is the number of the voice (one utterance of the agent) or
    of the cue that the sound belongs to."""

    kind: int  # VOICE, CUE or AMBIENT
    number: int
    chunk: int
    pcm: bytes

    @property
    def samples(self) -> int:
        return len(self.pcm) // 2


def written(kind: str, payload: dict[str, Any]) -> str:
    """A message to the server, as JSON text."""
    return json.dumps({"type": kind, "payload": payload})


def read(frame: str | bytes) -> ServerSaid | VoiceChunk:
    """Read a frame from the server. Raises ValueError if the frame is neither a message nor sound."""
    if isinstance(frame, str):
        message = json.loads(frame)
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise ValueError("a message from the server has no type")
        return ServerSaid(message["type"].removeprefix(_PREFIX), message.get("payload") or {})
    if len(frame) < _HEADER.size:
        raise ValueError(f"a frame of sound has {len(frame)} bytes, but its header alone needs {_HEADER.size}")
    kind, _, _, number, chunk = _HEADER.unpack_from(frame)
    return VoiceChunk(kind, number, chunk, frame[_HEADER.size :])
