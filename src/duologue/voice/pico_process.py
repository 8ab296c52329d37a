"""The helper processes of the Pico voice, each with one engine, and the threads that wait for them.

The engine is old C code that can crash on odd text, and it is not thread-safe. So each engine has its own process, and
a thread of the server asks that process for sound, piece by piece. Rule: an engine works only for a sentence that is
still wanted. If an engine crashes or hangs, its sentence is lost and a new process is started, but the server is not
affected.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError

from . import pico_engine
from .pico_engine import AMOUNT, HEADER, LEVELS

RATE_HZ = 16_000
FIRST_MS, PIECE_MS = 60, 240  # how much sound is asked for at once: little at first, so that it starts soon
ENGINES_MAX = max(1, min(4, os.cpu_count() or 1))
_ANSWER_BYTES_MAX = 1 << 20


class PicoFailed(ServiceError):
    """The Pico engine failed. The message never contains the spoken text."""

    is_own = True


class EngineDied(PicoFailed):
    """The helper process has ended, by itself or because it was killed. A new process is started for the next
    sentence."""

    def __init__(self) -> None:
        super().__init__(ErrorClass.SERVER_ERROR, "the Pico engine died and will be started again")


class Levels(NamedTuple):
    """How a text is spoken, in percent of the voice's own speed, pitch and loudness."""

    speed: int
    pitch: int
    volume: int


class PicoProcess:
    """One helper process. It is started when it is first needed. If it has died, it is started again for the next
    text."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def speak(self, text: str, files: str, levels: Levels, take: Callable[[bytes], bool]) -> None:
        """Synthesise the text. Calls `take` with each piece of sound, until `take` returns False. `files` are the names
        of the voice's files, separated by NUL. Raises PicoFailed."""
        starts = self.starts
        try:
            self._begin(text, files, levels)
        except EngineDied:
            if self.starts > starts:
                raise
            self._begin(text, files, levels)  # it died while it was idle
        wanted_ms, answer = FIRST_MS, b"D"
        while answer == b"D":
            answer, pcm = self._ask(b"M", AMOUNT.pack(wanted_ms * RATE_HZ // 1000 * 2))
            wanted_ms = PIECE_MS
            if not take(pcm):
                return

    def _begin(self, text: str, files: str, levels: Levels) -> None:
        """Start the process if it isn't running, and send it the text."""
        if self._process is None or self._process.poll() is not None:
            self._discard()
            self._process = self._start()
        self._ask(b"S", LEVELS.pack(*levels) + f"{files}\0{text}".encode())

    def kill(self) -> None:
        """End the process at once. May be called from any thread, even while another thread waits for the sound of this
        process."""
        if self._process is not None:
            self._process.kill()

    def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with suppress(OSError):  # something was still to be written to the dead process
                    pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-I", "-S", pico_engine.__file__]
        library = next(path for path in self._folder.iterdir() if path.stem == "libsvoxpico")
        self.starts += 1
        try:
            return subprocess.Popen(
                [*command, str(library), str(self._folder / "lang")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C lets conversations end, and they still need their voice
            )
        except OSError as problem:
            raise PicoFailed(ErrorClass.SERVER_ERROR, f"the Pico engine can't be started: {problem}") from None

    def _ask(self, letter: bytes, payload: bytes) -> tuple[bytes, bytes]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(HEADER.pack(letter, len(payload)) + payload)
            process.stdin.flush()
            answer, length = HEADER.unpack(_read(process, HEADER.size))
            content = _read(process, min(length, _ANSWER_BYTES_MAX))
        except OSError:  # the process died, or was killed
            self._discard()
            raise EngineDied from None
        if answer == b"F":
            raise PicoFailed(ErrorClass.SERVER_ERROR, f"the Pico engine failed (code {content.decode()})")
        return answer, content


def _read(process: subprocess.Popen[bytes], size: int) -> bytes:
    assert process.stdout is not None
    data = process.stdout.read(size)
    if len(data) < size:
        raise OSError("the process of the Pico engine ended")
    return data


class Engines:
    """The helper processes for one model folder: one for each sentence that is being synthesised, but at most
    ENGINES_MAX. Further sentences wait until a process is free."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mine = threading.local()
        self._all: list[PicoProcess] = []
        self.threads = ThreadPoolExecutor(ENGINES_MAX, thread_name_prefix="pico")
        atexit.register(self.kill)

    def mine(self) -> PicoProcess:
        """The helper process that belongs to the calling thread; it is made when this is first read."""
        if not hasattr(self._mine, "process"):
            self._mine.process = PicoProcess(self._folder)
            self._all.append(self._mine.process)
        process: PicoProcess = self._mine.process
        return process

    def kill(self) -> None:
        """End all helper processes. A process that is needed later is started again."""
        for process in self._all:
            process.kill()


_ENGINES: dict[Path, Engines] = {}  # kept until the server ends
_ENGINES_LOCK = threading.Lock()


def engines_of(folder: Path) -> Engines:
    """The helper processes for this model folder. All voices of the folder share them."""
    with _ENGINES_LOCK:
        if folder not in _ENGINES:
            _ENGINES[folder] = Engines(folder)
        return _ENGINES[folder]
