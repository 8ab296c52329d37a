"""The words that the agent itself has said in the last seconds, and when each of them was played.

The module `echo_words` compares these words with what is heard. Times are whole milliseconds on the conversation's
clock. Rule: a word is stored from the time when its sound begins until at least KEEP_MS after the end of its sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .words import words_of

KEEP_MS = 10_000  # an utterance that began over the agent's words may be transcribed this much later
WORDS_MAX = 60


class TimedWord(Protocol):
    """A word of a voice (one utterance of the agent). Its times count from the beginning of the voice."""

    @property
    def text(self) -> str: ...

    @property
    def start_ms(self) -> int: ...

    @property
    def end_ms(self) -> int: ...


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word that the agent has said, in lower case, with the time at which it was played."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class OwnSpeech:
    """The agent's recent words."""

    words: tuple[SpokenWord, ...] = ()
    voice: int = 0
    known: int = 0
    """How many words of this voice (one utterance of the agent) are known."""

    def saying(self, voice: int, voice_words: Sequence[TimedWord], heard_ms: int, now: int) -> OwnSpeech:
        """The agent's recent words, including the words of the current voice (the sound of one reply) that have begun
        to sound. `voice_words` are the words of this voice so far, with times from its beginning. `heard_ms` is how
        much of it has been played at the time `now`. A word that was added earlier keeps its time, because playback may
        have been paused since then."""
        known = self.known if voice == self.voice else 0
        begun = [word for word in voice_words[known:] if word.start_ms <= heard_ms]
        began = now - heard_ms
        new = (
            SpokenWord(part, began + word.start_ms, began + word.end_ms)
            for word in begun
            for part in words_of(word.text)
        )
        words = _recent((*self.words, *new), now)
        if not begun and voice == self.voice and len(words) == len(self.words):
            return self  # the usual case: no further word has begun, and no word is too old
        return OwnSpeech(words, voice, known + len(begun))


def _recent(words: tuple[SpokenWord, ...], now: int) -> tuple[SpokenWord, ...]:
    since = now - KEEP_MS
    return tuple([word for word in words if word.end_ms >= since][-WORDS_MAX:])
