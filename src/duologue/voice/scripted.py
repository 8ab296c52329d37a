"""A voice for simulations. Its sounds have a realistic length and word times. They have samples only if asked for."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass

from duologue.ports.sound import Sound, Word

_HUM = struct.pack("<hh", 8_000, -8_000)


@dataclass(frozen=True, slots=True)
class ScriptedVoice:
    """Speaks at a steady pace. If `times` is False, its sounds have no word times. If `joins_words` is true, it accepts
    the first words of a reply before their sentence is complete. With a sample rate (`rate_hz`), its sounds have
    samples: a loud hum."""

    first_ms: int = 0  # delay before the first sound of a sentence
    chunk_ms: int = 200
    char_ms: int = 60
    times: bool = True
    joins_words: bool = False
    rate_hz: int = 0

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        """The sounds of this text: `char_ms` for each character."""
        if self.first_ms:
            await asyncio.sleep(self.first_ms / 1000)
        pending: list[Word] = []
        start_ms = cursor_ms = 0
        for token in text.split():
            end_ms = cursor_ms + max(1, len(token) + 1) * self.char_ms
            pending.append(Word(token, cursor_ms, end_ms))
            cursor_ms = end_ms
            while cursor_ms - start_ms >= self.chunk_ms:
                yield self._piece(pending, start_ms, start_ms + self.chunk_ms)
                start_ms += self.chunk_ms
        if cursor_ms > start_ms:
            yield self._piece(pending, start_ms, cursor_ms)

    def _piece(self, pending: list[Word], start_ms: int, end_ms: int) -> Sound:
        """Return a sound with the words that end in it. These words are removed from `pending`."""
        words = [word for word in pending if word.end_ms <= end_ms]
        del pending[: len(words)]
        timed = tuple(Word(word.text, word.start_ms - start_ms, word.end_ms - start_ms) for word in words)
        ms = end_ms - start_ms
        if not self.rate_hz:
            return Sound(ms, words=timed if self.times else ())
        return Sound(ms, _HUM * (ms * self.rate_hz // 2_000), self.rate_hz, timed if self.times else ())
