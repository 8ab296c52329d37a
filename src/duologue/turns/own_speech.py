"""What the agent itself has said in the last seconds, word by word, with the time at which each word was played.

The module `echo_words` compares these words with what is heard. Times are whole milliseconds on the conversation's
clock. Rule: a word is stored from the time when it begins to sound until at least KEEP_MS after its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .words import words_of

KEEP_MS = 10_000  # an utterance that began over the agent's words may be transcribed this much later
WORDS_MAX = 60


class TimedWord(Protocol):
    """A word of a voice, with times from the beginning of the voice."""

    @property
    def text(self) -> str: ...

    @property
    def start_ms(self) -> int: ...

    @property
    def end_ms(self) -> int: ...


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word of the agent, in lower case, and when it was played."""

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
        """The agent's recent words while this voice plays. `voice_words` are its words so far with times from its
        beginning, and `heard_ms` of it have been played by `now`. A word that is already known keeps its time, because
        playback may have been held since."""
        known = self.known if voice == self.voice else 0
        begun = [word for word in voice_words[known:] if word.start_ms <= heard_ms]
        began = now - heard_ms
        new = (
            SpokenWord(part, began + word.start_ms, began + word.end_ms)
            for word in begun
            for part in words_of(word.text)
        )
        return OwnSpeech(_recent((*self.words, *new), now), voice, known + len(begun))


def _recent(words: tuple[SpokenWord, ...], now: int) -> tuple[SpokenWord, ...]:
    return tuple(word for word in words if word.end_ms >= now - KEEP_MS)[-WORDS_MAX:]
