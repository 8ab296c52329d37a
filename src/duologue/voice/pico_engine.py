"""The helper process of the Pico voice: one engine, controlled by messages on the standard input.

This file is started as a separate script. The engine is old C code, and if it crashes, only this process ends and not
the server. The script imports only the standard library. Rule: the process makes sound only when it is asked for more,
so no message is needed to stop it. The process ends when its standard input ends.

A message is a letter, a length and that many bytes:

    S  speed, pitch and volume; the names of the voice's two files and the text, separated by NUL    answer: K, or F
    M  how many bytes of sound are wanted    answer: D with sound, E with the last sound, or F

The answer K means that the text was accepted. F reports a failure and contains the failure's code as text.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from typing import BinaryIO

HEADER = struct.Struct("<cI")
LEVELS = struct.Struct("<HHH")
AMOUNT = struct.Struct("<I")

_MEMORY_BYTES = 3 << 20  # all that an engine may use
_PUT_BYTES_MAX = 16_000  # the engine counts the bytes of a text in 16 bits
_READ_BYTES = 1_024
_STEPS_MAX = 500_000  # steps without a sound; a sentence needs some hundreds
_OK, _IDLE, _BUSY = 0, 200, 201


class EngineFailed(Exception):
    """A function of the engine's C library failed. The argument is the status code that it returned."""


class PicoEngine:
    """The Pico engine. `library` is the path of its C library. The files of its voices must be in the current
    folder."""

    def __init__(self, library: str) -> None:
        self._c = ctypes.CDLL(library)
        pointer, size = ctypes.c_void_p, ctypes.c_int16
        self._c.pico_putTextUtf8.argtypes = [pointer, ctypes.c_char_p, size, pointer]
        self._c.pico_getData.argtypes = [pointer, pointer, size, pointer, pointer]
        self._memory = ctypes.create_string_buffer(_MEMORY_BYTES)
        self._system = ctypes.c_void_p()
        self._engine = ctypes.c_void_p()
        self._sound: Iterator[bytes] = iter(())

    def begin(self, text: bytes, files: list[bytes], speed: int, pitch: int, volume: int) -> None:
        """Begin this text with the voice in these files. The previous text is forgotten, even if it wasn't finished.
        Speed, pitch and volume are in percent. The engine starts again with cleared memory, which takes less than a
        millisecond, so the same text always gives the same sound, no matter what was said before."""
        self.close()
        ctypes.memset(self._memory, 0, _MEMORY_BYTES)
        self._load(files)
        opening = f"<speed level='{speed}'><pitch level='{pitch}'><volume level='{volume}'>"
        self._sound = self._synthesise(opening.encode() + text + b"</volume></pitch></speed>\0")

    def _load(self, files: list[bytes]) -> None:
        c, reference = self._c, ctypes.byref
        _check(c.pico_initialize(self._memory, _MEMORY_BYTES, reference(self._system)))
        _check(c.pico_createVoiceDefinition(self._system, b"voice"))
        for file in files:
            resource, name = ctypes.c_void_p(), ctypes.create_string_buffer(200)
            _check(c.pico_loadResource(self._system, file, reference(resource)))
            _check(c.pico_getResourceName(self._system, resource, name))
            _check(c.pico_addResourceToVoiceDefinition(self._system, b"voice", name))
        _check(c.pico_newEngine(self._system, b"voice", reference(self._engine)))

    def close(self) -> None:
        """Forget the voice and the text, and close the voice's files."""
        self._sound = iter(())
        if self._engine:
            self._c.pico_disposeEngine(self._system, ctypes.byref(self._engine))
        if self._system:
            self._c.pico_terminate(ctypes.byref(self._system))
        self._engine, self._system = ctypes.c_void_p(), ctypes.c_void_p()

    def more(self, wanted: int) -> tuple[bytes, bool]:
        """Make and return the next bytes of sound, and say whether they are the last ones. Returns at least `wanted`
        bytes, unless the sound ends before."""
        found: list[bytes] = []
        count = 0
        while count < wanted:
            piece = next(self._sound, b"")
            if not piece:
                return b"".join(found), True
            found.append(piece)
            count += len(piece)
        return b"".join(found), False

    def _synthesise(self, text: bytes) -> Iterator[bytes]:
        put, got, kind = ctypes.c_int16(), ctypes.c_int16(), ctypes.c_int16()
        buffer = ctypes.create_string_buffer(_READ_BYTES)
        view = memoryview(buffer).cast("B")
        # Most of the calls give no sound, so what each of them needs is made once.
        read, engine = self._c.pico_getData, self._engine
        where = ctypes.addressof(buffer), _READ_BYTES, ctypes.addressof(got), ctypes.addressof(kind)
        steps = 0
        while text:
            size = min(len(text), _PUT_BYTES_MAX)
            _check(self._c.pico_putTextUtf8(self._engine, text, size, ctypes.byref(put)))
            text = text[put.value :]
            status = _BUSY
            while status == _BUSY and steps < _STEPS_MAX:
                status, steps = read(engine, *where), steps + 1
                if got.value > 0:
                    steps = 0
                    yield bytes(view[: got.value])
            if status != _IDLE:
                raise EngineFailed(status)


def _check(status: int) -> None:
    if status != _OK:
        raise EngineFailed(status)


def serve(engine: PicoEngine, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the messages from `source` until `source` ends."""
    while len(header := source.read(HEADER.size)) == HEADER.size:
        letter, length = HEADER.unpack(header)
        payload = source.read(length)
        try:
            answer, content = _answer(engine, letter, payload)
        except EngineFailed as failure:
            answer, content = b"F", str(failure).encode()
        sink.write(HEADER.pack(answer, len(content)) + content)
        sink.flush()


def _answer(engine: PicoEngine, letter: bytes, payload: bytes) -> tuple[bytes, bytes]:
    if letter == b"S":
        *files, text = payload[LEVELS.size :].split(b"\0", 2)
        engine.begin(text, files, *LEVELS.unpack_from(payload))
        return b"K", b""
    sound, is_last = engine.more(*AMOUNT.unpack(payload))
    return b"E" if is_last else b"D", sound


def main() -> None:
    library, voices = sys.argv[1:]
    engine = PicoEngine(library)
    os.chdir(voices)  # the engine's buffers for file names are short
    serve(engine, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
