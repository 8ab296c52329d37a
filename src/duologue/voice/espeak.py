"""espeak-ng as a voice. It is fast, sounds robotic, has a hundred languages and reports the time of every word.

espeak-ng is GPL-3. Duologue neither contains nor links it: the user pulls the library, and it is loaded when the first
sentence is spoken.

The library has global state, so each loaded library has one thread, and sentences queue for that thread. Synthesis is
hundreds of times faster than speech, so a sentence is synthesised completely, even if its reader is slow. A slow reader
never delays the other readers, and at most one sentence is buffered for it. Rule: after a reader has stopped reading,
synthesis stops at the library's next callback.
"""

from __future__ import annotations

import asyncio
import ctypes
import re
import threading
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError
from duologue.ports.sound import Sound, Word
from duologue.ports.voice import Voice

from .sentences import Sentences

PIECE_MS = 60
GRAIN_MS = 20  # the length of a sound is a multiple of this: a whole number of samples at 22,050 Hz
RATE_WPM_MIN, RATE_WPM_MAX = 80, 450
_TOKEN = re.compile(r"\S+")
# For espeak-ng, \0 ends the text and \1 starts a command; UTF-8 has no surrogates.
UNSPEAKABLE = re.compile("[\0-\x08\x0e-\x1f\x7f\ud800-\udfff]")


class EspeakFailed(ServiceError):
    """espeak-ng failed. The message may name settings, but never contains the spoken text."""

    is_own = True


# -- From espeak/speak_lib.h

_SYNCHRONOUS = 2
_PHONEME_EVENTS, _DONT_EXIT = 1, 1 << 15
_UTF8, _END_PAUSE = 1, 0x1000  # _END_PAUSE adds the pause after a sentence also at the end of the text
_BY_CHARACTER = 1
_RATE = 1
_WORD, _PHONEME = 1, 7


class _Id(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Id),
    ]


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(_Event))


class Mark(NamedTuple):
    """What happens at this sample. If `at` is a position in the text, the word at this position begins. If `at` is
    None, a silence begins (`silent`) or a sound does."""

    sample: int
    at: int | None
    silent: bool = False


# -- The library and its thread


class Library:
    """One loaded espeak-ng library. Every call of the library holds `_lock` and, except in simulated time, runs in
    `thread`."""

    def __init__(self, path: Path, data: Path | None) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="espeak-ng")
        self._path, self._data = path, data
        self._lock = threading.Lock()
        self._c: ctypes.CDLL | None = None
        self._voice = ""
        self._take: Callable[[bytes, list[Mark]], bool] | None = None
        self._failure: BaseException | None = None
        self._callback = _CALLBACK(self._called)  # stored, so that Python doesn't delete the callback while C uses it
        self.rate_hz = 0
        self.callbacks = 0

    def synthesise(self, text: str, voice: str, rate_wpm: int, take: Callable[[bytes, list[Mark]], bool]) -> None:
        """Synthesise the text. Calls `take` with each piece of audio and its marks, until `take` returns False."""
        with self._lock:
            c = self._c or self._load()
            self._choose(c, voice, rate_wpm)
            data = text.encode()
            size, flags = ctypes.c_size_t(len(data) + 1), _UTF8 | _END_PAUSE
            self._take, self._failure = take, None
            code = c.espeak_Synth(data, size, 0, _BY_CHARACTER, 0, flags, None, None)
            failure, self._take = self._failure, None
        if failure is not None:
            raise failure
        if code:
            raise EspeakFailed(ErrorClass.SERVER_ERROR, f"espeak-ng failed (code {code})")

    def _load(self) -> ctypes.CDLL:
        try:
            c = ctypes.CDLL(str(self._path))
            data = str(self._data).encode() if self._data else None
            rate_hz = c.espeak_Initialize(_SYNCHRONOUS, PIECE_MS, data, _PHONEME_EVENTS | _DONT_EXIT)
        except (OSError, AttributeError):
            raise EspeakFailed(ErrorClass.INVALID_ARGS, f"{self._path} isn't an espeak-ng library") from None
        if rate_hz <= 0 or rate_hz * GRAIN_MS % 1000:
            raise EspeakFailed(
                ErrorClass.INVALID_ARGS,
                f"espeak-ng can't read its data in {self._data or '/usr'}: pull the model espeak-ng again",
            )
        c.espeak_SetSynthCallback(self._callback)
        self._c, self.rate_hz = c, rate_hz
        return c

    def _choose(self, c: ctypes.CDLL, voice: str, rate_wpm: int) -> None:
        if voice != self._voice:
            self._voice = ""
            if c.espeak_SetVoiceByName(voice.encode()):
                raise EspeakFailed(ErrorClass.INVALID_ARGS, f"espeak-ng has no voice {voice!r}; try en-us or de")
            self._voice = voice
        c.espeak_SetParameter(_RATE, rate_wpm, 0)

    def _called(self, samples: int | None, count: int, events: ctypes._Pointer[_Event]) -> int:
        """The callback that C calls with each piece of audio. Returns 0 to continue the synthesis, or 1 to stop it."""
        self.callbacks += 1
        try:
            assert self._take is not None
            pcm = ctypes.string_at(samples, 2 * count) if samples and count > 0 else b""
            return 0 if self._take(pcm, list(_read(events))) else 1
        except BaseException as failure:  # noqa: BLE001 - it can't pass through C, so `synthesise` raises it
            self._failure = failure
            return 1


def _read(events: ctypes._Pointer[_Event]) -> Iterator[Mark]:
    number = 0
    while events and (kind := events[number].type):
        event = events[number]
        if kind == _WORD:
            yield Mark(event.sample, event.text_position - 1)
        elif kind == _PHONEME:
            yield Mark(event.sample, None, silent=event.id.string.startswith(b"_"))
        number += 1


_FILES = ("libespeak-ng.so", "libespeak-ng.dylib", "espeak-ng.dll")
_LIBRARIES: dict[Path, Library] = {}  # one library for each file, kept until the process ends
_LIBRARIES_LOCK = threading.Lock()


def find_library(path: Path | None) -> Library:
    """The library at this path, or in the model cache if the path is None. Raises EspeakFailed or ModelMissing."""
    if path is None:
        from duologue.models.cache import model_path

        folder = model_path("espeak-ng")
        path = next(folder / name for name in _FILES if (folder / name).exists())
    if not path.exists():
        raise EspeakFailed(ErrorClass.INVALID_ARGS, f"{path}: no such file; pass the path of an espeak-ng library")
    path = path.resolve()
    data = path.parent / "espeak-ng-data"
    with _LIBRARIES_LOCK:
        if path not in _LIBRARIES:
            _LIBRARIES[path] = Library(path, data if data.exists() else None)
        return _LIBRARIES[path]


# -- From audio and marks to timed pieces


class TimedPieces:
    """Cuts the audio of a text into pieces, each with the words that end in it.

    A word is a token of the written text. It ends where the silence after it begins. If there is no silence, it ends
    where the next word begins. This end is known only later, so a piece is held back until no other word can end in it.
    A silent token, such as a dash, ends together with the word before it.
    """

    def __init__(self, text: str, rate_hz: int) -> None:
        self._tokens = [match.group() for match in _TOKEN.finditer(text)]
        self._starts = [match.start() for match in _TOKEN.finditer(text)]
        self._rate_hz = rate_hz
        self._pcm = bytearray()  # the audio that isn't cut yet
        self._start_ms = 0
        self._samples = 0  # number of samples so far, for the whole text
        self._open = -1  # the token that is being spoken
        self._open_since = 0
        self._silent_since: int | None = None
        self._words: list[Word] = []  # words that ended, but aren't in a piece yet

    def take(self, pcm: bytes, marks: list[Mark]) -> list[Sound]:
        """Add audio and its marks. Returns the pieces that are now complete."""
        self._pcm += pcm
        self._samples += len(pcm) // 2
        for mark in marks:
            if mark.at is not None:
                self._begin_word(mark.at, mark.sample)
            elif not mark.silent:
                self._silent_since = None
            elif self._silent_since is None:
                self._silent_since = mark.sample
        certain = self._samples if self._silent_since is None else self._silent_since
        ready = []
        while (self._start_ms + PIECE_MS) * self._rate_hz < certain * 1000:
            ready.append(self._cut(PIECE_MS))
        return ready

    def rest(self) -> list[Sound]:
        """The remaining pieces at the end of the text, padded with silence to a multiple of GRAIN_MS."""
        self._end_words(len(self._tokens), self._samples)
        grain_bytes = self._rate_hz * GRAIN_MS // 1000 * 2
        self._pcm += bytes(-len(self._pcm) % grain_bytes)
        ready = []
        while self._pcm:
            ready.append(self._cut(min(PIECE_MS, len(self._pcm) // grain_bytes * GRAIN_MS)))
        return ready

    def _begin_word(self, at: int, sample: int) -> None:
        token = max(0, bisect_right(self._starts, at) - 1)
        if token > self._open:  # espeak-ng may speak one token as several words, such as a number
            self._end_words(token, sample)
            self._open, self._open_since = token, sample
            self._silent_since = None

    def _end_words(self, following: int, sample: int) -> None:
        """End the current token, and the silent tokens between it and the following one."""
        end = sample if self._silent_since is None else min(sample, max(self._silent_since, self._open_since))
        end_ms = self._ms(end)
        for token in range(max(0, self._open), following):
            start_ms = self._ms(self._open_since) if token == self._open else end_ms
            self._words.append(Word(self._tokens[token], start_ms, end_ms))

    def _ms(self, samples: int) -> int:
        """This number of samples in milliseconds, rounded up so that no word ends before its last sample."""
        return -(-samples * 1000 // self._rate_hz)

    def _cut(self, ms: int) -> Sound:
        size, begin_ms = self._rate_hz * ms // 1000 * 2, self._start_ms
        pcm = bytes(self._pcm[:size])
        del self._pcm[:size]
        self._start_ms += ms
        count = sum(word.end_ms <= self._start_ms for word in self._words)
        ended, self._words = self._words[:count], self._words[count:]
        words = tuple(Word(word.text, word.start_ms - begin_ms, word.end_ms - begin_ms) for word in ended)
        return Sound(ms, pcm, self._rate_hz, words)


# -- The voice


class _Synthesis:
    """The synthesis of one sentence for one reader."""

    def __init__(self, library: Library, text: str, voice: str, rate_wpm: int) -> None:
        self._library = library
        self._text, self._voice, self._rate_wpm = text, voice, rate_wpm
        self._loop = asyncio.get_running_loop()
        self._pieces: TimedPieces | None = None
        self._is_abandoned = False
        self.sounds: asyncio.Queue[list[Sound] | BaseException | None] = asyncio.Queue()  # None: the end

    def leave(self) -> None:
        """Note that the reader has stopped reading, so that the synthesis stops."""
        self._is_abandoned = True

    def run(self) -> None:
        """Synthesise the sentence and put its sounds into the queue. Runs in the library's thread."""
        if self._is_abandoned:
            return
        try:
            self._library.synthesise(self._text, self._voice, self._rate_wpm, self._take)
            if self._pieces is not None:
                self._send(self._pieces.rest())
            self._send(None)
        except BaseException as failure:  # noqa: BLE001 - the reader gets it
            self._send(failure)

    def _take(self, pcm: bytes, marks: list[Mark]) -> bool:
        if (
            self._is_abandoned or self._loop.is_closed()
        ):  # checked here too, because an incomplete piece isn't sent and so can't fail
            return False
        if self._pieces is None:
            self._pieces = TimedPieces(self._text, self._library.rate_hz)
        ready = self._pieces.take(pcm, marks)
        if ready:
            self._send(ready)
        return not self._is_abandoned

    def _send(self, news: list[Sound] | BaseException | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self.sounds.put_nowait, news)
        except RuntimeError:  # the loop is closed, so the reader is gone
            self._is_abandoned = True


class EspeakVoice(Voice):
    """Speaks with espeak-ng.

    `voice` is the name of an espeak-ng voice, such as "en-us", "de" or "en-us+f3". `rate_wpm` is the speed in words per
    minute. `library` is the library file to load, by default the one that `duologue models pull espeak-ng` installs. In
    simulated time there are no threads, and synthesis takes no time.
    """

    def __init__(self, voice: str = "en-us", rate_wpm: int = 170, library: Path | str | None = None) -> None:
        if not RATE_WPM_MIN <= rate_wpm <= RATE_WPM_MAX:
            raise ValueError(f"rate_wpm must be from {RATE_WPM_MIN} to {RATE_WPM_MAX} words per minute, not {rate_wpm}")
        self._voice, self._rate_wpm = voice, rate_wpm
        self._library = find_library(Path(library) if library is not None else None)

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """The sound of a text with the times of its words, sentence by sentence."""
        loop, sentences = asyncio.get_running_loop(), Sentences()
        for sentence in (*sentences.feed(UNSPEAKABLE.sub(" ", text)), sentences.rest()):
            if not sentence:
                continue
            job = _Synthesis(self._library, sentence, self._voice, self._rate_wpm)
            made = loop.run_in_executor(self._library.thread, job.run)
            try:
                while (news := await job.sounds.get()) is not None:
                    if isinstance(news, BaseException):
                        raise news
                    for sound in news:
                        yield sound
            finally:
                job.leave()
                if not loop.is_closed():
                    made.cancel()  # has an effect only if the synthesis has not started
