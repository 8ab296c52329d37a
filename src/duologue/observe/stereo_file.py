"""A stereo WAV file. Its two channels are written separately, each at its own position.

The person is on the left channel and the agent on the right. Samples may arrive late and out of order, and gaps are
filled with silence. The file contains the time in the conversation at which it starts. Rule: the file can be played at
any time while it is written, and only its owner can read it.
"""

from __future__ import annotations

import json
import os
import struct
from array import array
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .opus_file import began_at_of

RATE_HZ = 16_000
SAMPLES_MAX = RATE_HZ * 6 * 3_600  # six hours, far below the limit of WAV
LEFT, RIGHT = 0, 1
_FRAME_BYTES = 4  # two sides of 16 bits


class StereoFile:
    """Writes a stereo WAV file with 16-bit samples at RATE_HZ. `began_at` is the time in the conversation, in
    milliseconds, at which the file starts."""

    def __init__(self, path: Path, began_at: int) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.fchmod(handle, 0o600)
        self._file: BinaryIO = os.fdopen(handle, "r+b")
        self._head = _head(began_at)
        self._samples = 0
        self._write_head()

    def write(self, side: int, at: int, samples: array[int]) -> None:
        """Write samples of one channel. The first of them gets the sample number `at`. Samples beyond SAMPLES_MAX are
        left out."""
        if at < 0:
            samples, at = samples[-at:], 0
        samples = samples[: max(0, SAMPLES_MAX - at)]
        if not samples:
            return
        place = len(self._head) + 8 + at * _FRAME_BYTES
        self._file.seek(place)
        known = self._file.read(len(samples) * _FRAME_BYTES)
        both = array("h", known + bytes(len(samples) * _FRAME_BYTES - len(known)))
        both[side::2] = samples
        self._file.seek(place)
        self._file.write(both.tobytes())
        self._samples = max(self._samples, at + len(samples))

    def flush(self) -> None:
        """Write the current length into the header, so that the file can be played up to here."""
        self._write_head()
        self._file.flush()

    def close(self) -> None:
        """Finish and close the file."""
        self.flush()
        self._file.close()

    def _write_head(self) -> None:
        data_bytes = self._samples * _FRAME_BYTES
        riff = struct.pack("<4sI4s", b"RIFF", len(self._head) + data_bytes, b"WAVE")
        self._file.seek(0)
        self._file.write(riff + self._head[12:] + struct.pack("<4sI", b"data", data_bytes))


def _head(began_at: int) -> bytes:
    """The header of the file up to the chunk of samples. The length of the file is left blank and filled in later."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 2, RATE_HZ, RATE_HZ * _FRAME_BYTES, _FRAME_BYTES, 16)
    note = json.dumps({"began_at_ms": began_at}).encode()
    note += b" " * (len(note) % 2)
    return bytes(12) + form + struct.pack("<4sI", b"duol", len(note)) + note


class StereoSound(NamedTuple):
    """A recording that was read from a file: its bytes, the time in the conversation (in milliseconds) at which it
    starts, and its media type."""

    data: bytes
    began_at: int
    media_type: str = "audio/wav"


def read_stereo(path: Path) -> StereoSound:
    """Read a WAV or Opus recording. For a file that Duologue didn't write, the start time is 0. Raises OSError if the
    file can't be read, and ValueError if it is neither WAV nor Ogg."""
    data = path.read_bytes()
    if data[:4] == b"OggS":
        return StereoSound(data, began_at_of(data), "audio/ogg")
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError("this is neither a WAV file nor an Ogg file")
    at, note = 12, b""
    while at + 8 <= len(data) and data[at : at + 4] != b"data":
        name, size = struct.unpack_from("<4sI", data, at)
        if name == b"duol":
            note = data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    try:
        given: Any = json.loads(note or b"{}")
        began_at = given.get("began_at_ms", 0)
    except (ValueError, AttributeError):
        began_at = 0
    return StereoSound(data, began_at if type(began_at) is int and began_at >= 0 else 0)
