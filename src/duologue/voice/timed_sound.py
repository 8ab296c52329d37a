"""For a service that reports word times: cuts the service's PCM into sounds, and adds each word to the sound in which
it ends.

Word times count from the start of the sentence. They may arrive some hundred milliseconds after their sound. A word
that arrives late is added to the next sound. Its times then lie before the start of that sound, so they are still
correct. Rule: the last 20 ms of a sentence are held back until the sentence ends, so there is always a sound to which
the last words can be added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from duologue.audio.file_kinds import file_kind
from duologue.core.leaves import ErrorClass
from duologue.ports.sound import Sound, Word

from .endpoint import GRAIN_MS, PIECE_MS_MAX, SpeechFailed

_TAG_PARTS = re.compile("([<>])")


class TimedSound:
    """Cuts the sound of one sentence. `name` is the name of the service in error messages. With `has_markup`, the
    service's words may contain markup, which isn't part of any word."""

    def __init__(self, name: str, has_markup: bool = False) -> None:
        self._name = name
        self._has_markup = has_markup
        self._is_in_tag = False  # the words so far end within a tag
        self._rate_hz = 0
        self._pending = bytearray()
        self._words: list[Word] = []  # times from the start of the sentence; not in a sound yet
        self._at_ms = 0  # how many milliseconds of sound were returned
        self._last_ms = 0  # where the last word ends, so that words stay in order

    @property
    def made_ms(self) -> int:
        """How many milliseconds of sound were returned so far."""
        return self._at_ms

    def add_words(self, words: Iterable[Word]) -> None:
        """Add words. They must be in the order of the text, with times from the start of the sentence."""
        for word in words:
            text = self._bare(word.text) if self._has_markup else word.text
            if text:
                self._last_ms = max(self._last_ms, word.end_ms)
                self._words.append(Word(text, min(self._last_ms, max(0, word.start_ms)), self._last_ms))

    def _bare(self, text: str) -> str:
        """The word without markup. A tag with spaces in it comes as several words."""
        kept = ""
        for piece in _TAG_PARTS.split(text):
            if piece in ("<", ">"):
                self._is_in_tag = piece == "<"
            elif not self._is_in_tag:
                kept += piece
        return kept.strip()

    def feed(self, data: bytes, rate_hz: int) -> list[Sound]:
        """Add 16-bit mono PCM. Returns the sounds that are now complete. Raises SpeechFailed if the PCM can't be
        played."""
        if rate_hz <= 0 or rate_hz * GRAIN_MS % 1000:
            raise self._unusable(f"sends audio at {rate_hz} Hz: ask it for sample_rate=24000")
        if not self._rate_hz and (kind := file_kind(data)):
            raise self._unusable(f"sent {kind} instead of pcm: ask it for encoding pcm")
        changed = self.rest() if self._rate_hz not in (0, rate_hz) else []
        self._rate_hz = rate_hz
        self._pending += data
        return changed + self._cut(keep_bytes=self._grain_bytes)

    def rest(self) -> list[Sound]:
        """Remove and return the remaining sound, padded with silence to a multiple of GRAIN_MS. Call this at the end of
        a sentence."""
        if self._pending:
            del self._pending[len(self._pending) // 2 * 2 :]
            self._pending += bytes(-len(self._pending) % self._grain_bytes)
        return self._cut(keep_bytes=0)

    @property
    def _grain_bytes(self) -> int:
        return self._rate_hz * GRAIN_MS // 1000 * 2

    def _cut(self, keep_bytes: int) -> list[Sound]:
        sounds = []
        while self._pending and len(self._pending) - keep_bytes >= self._grain_bytes:
            whole = (len(self._pending) - keep_bytes) // self._grain_bytes
            ms = min(PIECE_MS_MAX, whole * GRAIN_MS)
            size = ms // GRAIN_MS * self._grain_bytes
            is_last = size == len(self._pending)
            words = self._take_words(self._at_ms + ms, is_last)
            sounds.append(Sound(ms, bytes(self._pending[:size]), self._rate_hz, words))
            del self._pending[:size]
            self._at_ms += ms
        return sounds

    def _take_words(self, until_ms: int, is_last: bool) -> tuple[Word, ...]:
        """Remove and return the words that end by `until_ms`. Their times count from the start of the next sound. If
        the next sound is the last one, all remaining words are returned."""
        count = 0
        while count < len(self._words) and (is_last or self._words[count].end_ms <= until_ms):
            count += 1
        taken, self._words = self._words[:count], self._words[count:]
        return tuple(
            Word(one.text, min(one.start_ms, until_ms) - self._at_ms, min(one.end_ms, until_ms) - self._at_ms)
            for one in taken
        )

    def _unusable(self, what: str) -> SpeechFailed:
        return SpeechFailed(ErrorClass.INVALID_ARGS, f"{self._name} {what}, in its settings")
