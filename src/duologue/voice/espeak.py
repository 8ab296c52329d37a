"""espeak-ng as a voice. It is fast, sounds robotic, has a hundred languages and reports the time of every word.

espeak-ng is GPL-3. Duologue neither contains nor links it: the user installs the library with `duologue models pull
espeak-ng`, and Duologue loads it when the first sentence is spoken.

The library has global state. So each loaded library has one thread, which makes one sentence after the other. Rule:
after a reader has stopped reading, synthesis stops when the library next calls back with sound.
"""

from __future__ import annotations

import ctypes
import re
import threading
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from math import log2
from pathlib import Path
from typing import NamedTuple

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError
from duologue.ports.sound import Sound, Word
from duologue.ports.voice import Voice

from .sentence_edges import faded_out
from .sentence_thread import Send, read_sentence
from .sentences import Sentences
from .speaking_style import PAUSE_MS, PITCH, SpeakingStyle, pause_after

PIECE_MS = 60
GRAIN_MS = 20  # the length of a sound is a multiple of this: a whole number of samples at 22,050 Hz
FADE_MS = 5
RATE_WPM = 130  # espeak-ng's own count; ordinary sentences come out at about 165 words per minute
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
_IPA = 2
_RATE, _PITCH = 1, 3
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
    """What begins at the sample `sample`: a word, a silence or a sound. For a word, `at` is its position in the text.
    Otherwise `at` is None, and `silent` says whether a silence begins."""

    sample: int
    at: int | None
    silent: bool = False


class EspeakManner(NamedTuple):
    """The voice, speed and pitch of a text, in espeak-ng's own units."""

    voice: str
    rate: int
    pitch: int


# -- The library and its thread


class Library:
    """One loaded espeak-ng library. `_lock` is held during every function call into the library. Synthesis runs in
    `thread`, except in simulated time."""

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

    def synthesise(self, text: str, manner: EspeakManner, take: Callable[[bytes, list[Mark]], bool]) -> None:
        """Synthesise the text. The function `take` is called with each piece of audio and its marks, until `take`
        returns False."""
        with self._lock:
            c = self._c or self._load()
            self._choose(c, manner)
            data = text.encode()
            size, flags = ctypes.c_size_t(len(data) + 1), _UTF8 | _END_PAUSE
            self._take, self._failure = take, None
            code = c.espeak_Synth(data, size, 0, _BY_CHARACTER, 0, flags, None, None)
            failure, self._take = self._failure, None
        if failure is not None:
            raise failure
        if code:
            raise EspeakFailed(ErrorClass.SERVER_ERROR, f"espeak-ng failed (code {code})")

    def phonemes(self, text: str, voice: str) -> str:
        """The text in IPA, as this espeak-ng voice would say it."""
        with self._lock:
            c = self._c or self._load()
            self._choose_voice(c, voice)
            c.espeak_TextToPhonemes.restype = ctypes.c_char_p
            buffer = ctypes.create_string_buffer(UNSPEAKABLE.sub(" ", text).encode())
            rest, said = ctypes.c_void_p(ctypes.addressof(buffer)), list[str]()
            while rest.value and len(said) <= len(text):  # each call converts one clause
                said.append((c.espeak_TextToPhonemes(ctypes.byref(rest), _UTF8, _IPA) or b"").decode())
        return " ".join(" ".join(said).split())

    def _load(self) -> ctypes.CDLL:
        try:
            c = ctypes.CDLL(str(self._path))
            data = str(self._data).encode() if self._data else None
            rate_hz = c.espeak_Initialize(_SYNCHRONOUS, PIECE_MS, data, _PHONEME_EVENTS | _DONT_EXIT)
        except (OSError, AttributeError):
            raise EspeakFailed(
                ErrorClass.INVALID_ARGS, f"{self._path} isn't an espeak-ng library: pass another path"
            ) from None
        if rate_hz <= 0 or rate_hz * GRAIN_MS % 1000:
            raise EspeakFailed(
                ErrorClass.INVALID_ARGS,
                f"espeak-ng can't read its data in {self._data or '/usr'}: run `duologue models pull espeak-ng`",
            )
        c.espeak_SetSynthCallback(self._callback)
        self._c, self.rate_hz = c, rate_hz
        return c

    def _choose(self, c: ctypes.CDLL, manner: EspeakManner) -> None:
        self._choose_voice(c, manner.voice)
        c.espeak_SetParameter(_RATE, manner.rate, 0)
        c.espeak_SetParameter(_PITCH, manner.pitch, 0)

    def _choose_voice(self, c: ctypes.CDLL, voice: str) -> None:
        if voice != self._voice:
            self._voice = ""
            if c.espeak_SetVoiceByName(voice.encode()):
                raise EspeakFailed(ErrorClass.INVALID_ARGS, f"espeak-ng has no voice {voice!r}; try en-us or de")
            self._voice = voice

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
    """The library at this path, or the library in the model cache if the path is None. Raises EspeakFailed if there is
    no file at the path, and ModelMissing if the library isn't in the cache."""
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
    """Cuts the audio of a text into pieces. Each piece lists the words that end in it.

    A word is a token of the written text. A word ends where the silence after it begins. If no silence follows, the
    word ends where the next word begins. Where a word ends is known only later, so a piece is held back until no other
    word can end in it. A silent token, such as a dash, ends together with the word before it. After the last word,
    `pause_ms` of silence is kept.
    """

    def __init__(self, text: str, rate_hz: int, pause_ms: int = PAUSE_MS) -> None:
        self._tokens = [match.group() for match in _TOKEN.finditer(text)]
        self._starts = [match.start() for match in _TOKEN.finditer(text)]
        self._rate_hz = rate_hz
        self._pause = rate_hz * pause_ms // 1000  # in samples
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
        """Remove and return the remaining pieces at the end of the text. They include the pause after the text, and the
        last piece is padded to a multiple of GRAIN_MS."""
        self._end_words(len(self._tokens), self._samples)
        self._end_with_pause()
        grain_bytes = self._rate_hz * GRAIN_MS // 1000 * 2
        self._pcm += bytes(-len(self._pcm) % grain_bytes)
        ready = []
        while self._pcm:
            ready.append(self._cut(min(PIECE_MS, len(self._pcm) // grain_bytes * GRAIN_MS)))
        return ready

    def _end_with_pause(self) -> None:
        """Make the silence at the end exactly as long as the pause: trim it or extend it."""
        spoken = self._samples if self._silent_since is None else self._silent_since
        before = self._samples - len(self._pcm) // 2  # samples that are in pieces already
        size = max(1, spoken + self._pause - before) * 2  # at least a sample, because the last word needs a piece
        if size < len(self._pcm):
            fade = self._rate_hz * FADE_MS // 1000
            self._pcm = bytearray(faded_out(bytes(self._pcm[:size]), fade))
        self._pcm += bytes(max(0, size - len(self._pcm)))

    def _begin_word(self, at: int, sample: int) -> None:
        token = max(0, bisect_right(self._starts, at) - 1)
        if token > self._open:  # espeak-ng may speak one token as several words, such as a number
            self._end_words(token, sample)
            self._open, self._open_since = token, sample
            self._silent_since = None

    def _end_words(self, following: int, sample: int) -> None:
        """Add the current token to the words that have ended, together with the silent tokens between it and the token
        `following`."""
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


class EspeakVoice(Voice):
    """Speaks with espeak-ng.

    `voice` is the name of an espeak-ng voice, such as "en-us", "de" or "en-us+f4". `rate_wpm` is the speed in words per
    minute as espeak-ng counts it; ordinary sentences are spoken a fifth faster than that. `pitch` is in percent of the
    voice's own pitch. `sentence_pause_ms` is the silence at the end of every sentence. `library` is the path of the
    library file to load; by default, it is the file that `duologue models pull espeak-ng` installs. In simulated time
    there are no threads, and synthesis takes no time.
    """

    joins_words = True

    def __init__(
        self,
        voice: str = "en-us",
        rate_wpm: int = RATE_WPM,
        library: Path | str | None = None,
        *,
        pitch: int = PITCH,
        sentence_pause_ms: int = PAUSE_MS,
    ) -> None:
        style = SpeakingStyle(rate_wpm=rate_wpm, pitch=pitch, sentence_pause_ms=sentence_pause_ms)
        self._manner = EspeakManner(voice, rate_wpm, _pitch_level(style.pitch))
        self._pause_ms = style.sentence_pause_ms
        self._library = find_library(Path(library) if library is not None else None)

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """The sound of a text with the times of its words, sentence by sentence."""
        sentences = Sentences()
        for sentence in (*sentences.feed(UNSPEAKABLE.sub(" ", text)), sentences.rest()):
            if sentence:
                make = partial(self._make, sentence)
                async with aclosing(read_sentence(self._library.thread, make)) as sounds:
                    async for sound in sounds:
                        yield sound

    def _make(self, sentence: str, send: Send) -> None:
        """Synthesise a sentence. Runs in the library's thread."""
        pieces: TimedPieces | None = None
        pause_ms = pause_after(sentence, self._pause_ms)

        def take(pcm: bytes, marks: list[Mark]) -> bool:
            nonlocal pieces
            pieces = pieces or TimedPieces(sentence, self._library.rate_hz, pause_ms)
            return send(pieces.take(pcm, marks))

        self._library.synthesise(sentence, self._manner, take)
        if pieces is not None:
            send(pieces.rest())


def _pitch_level(percent: int) -> int:
    """Convert a pitch in percent to espeak-ng's scale from 0 to 99. On this scale, 50 is the voice's own pitch, and 50
    steps are an octave."""
    return max(0, min(99, round(50 + 50 * log2(percent / 100))))
