"""Text that grows with the speech: partial transcripts of one utterance, and its final one.

The model hears a piece of audio as a whole, so what is still open is transcribed again and again. To keep
that cheap however long somebody talks, what lies some seconds back is settled: its words stay, its audio
goes. Rule: audio is cut only where its two halves, each heard by itself, say what the whole said; where no
such place is found for too long, the quietest must do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from duologue.turns.stability import Stability
from duologue.turns.words import words_of

from .model_input import RATE_HZ, NDArray, Samples, np
from .moonshine import NOTHING, Transcription, mean_confidence
from .token_vocabulary import WrittenWord

WINDOW_MS = 4_000  # longer open audio is to be cut
WINDOW_MS_MAX = 7_000  # and here it is cut in any case
_BACKLOG = 2  # so many windows at once are cut without trying whether it makes a difference
_LOOK_MS = 1_000  # after so much more audio, another place is looked for
_HEAD_MS = 1_500  # before this, nothing is cut: a few words alone are hard to understand
_REST_MS = 1_200  # nor so close to the end: what follows may still change them
_OVERLAP_MS = 120  # around a cut, both halves hear this
_GRAIN_MS = 20


class Transcribes(Protocol):
    """A model that writes down a piece of audio."""

    partial_ms: int
    """How much audio is to come between two transcripts of the same utterance."""

    def load(self) -> None: ...

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription: ...


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What was said as far as one can tell by now."""

    text: str = ""
    confidence: float = 0.0
    stability: float = 0.0
    """How little the words have changed of late, from 0 to 1."""
    unchanged_ms: int = 0
    """How long the words have been what they are."""
    settled: int = 0
    """How many words won't change any more."""
    last_confidence: float | None = None
    """Of the last word."""


class Dictation:
    """One utterance. Takes audio at 16 kHz in pieces of any length."""

    def __init__(self, model: Transcribes, window_ms: int = WINDOW_MS, window_ms_max: int = WINDOW_MS_MAX) -> None:
        assert _HEAD_MS + _REST_MS < window_ms <= window_ms_max, (window_ms, window_ms_max)
        self._model = model
        self._window, self._window_max = _samples(window_ms), _samples(window_ms_max)
        self._open: Samples = np.empty(0, np.float32)
        self._settled: list[WrittenWord] = []
        self._latest = NOTHING  # of the open audio
        self._earlier: list[str] = []  # the words in it one transcript before
        self._spelling: WrittenWord | None = None  # of the first open word, when it was heard in its sentence
        self._look_at = self._window  # so much open audio is to be cut
        self._changed_at = 0
        self._stability = Stability()
        self._told = Hypothesis()
        self.length = 0  # of all audio so far, in samples
        self.covered = 0  # as much of it is in the latest hypothesis

    def add(self, samples: Samples) -> None:
        """More audio; this costs nothing."""
        self._open = np.concatenate((self._open, samples))
        self.length += samples.size

    def write(self) -> Hypothesis:
        """Transcribe what is open."""
        while self._open.size > _BACKLOG * self._window_max:
            self._catch_up()
        self._earlier = _keys(self._latest.words)
        self._latest = self._model.transcribe(self._open, self._latest.tokens)
        self.covered = self.length
        return self._tell()

    def finish(self, voiced: int) -> Hypothesis:
        """The final text, of which only the first `voiced` samples matter: what was transcribed is not
        transcribed again for the silence after it."""
        return self._told if self.covered >= voiced > 0 else self.write()

    # -- Settling

    @property
    def is_long(self) -> bool:
        """Is so much open that it should be cut before the next `write`?"""
        return self.covered == self.length and self._open.size >= self._look_at

    def settle(self) -> None:
        """Look for a place to cut, and cut there if it makes no difference. Takes about twice as long as
        `write`, so it is asked for apart: the text shall not wait for it."""
        assert self.covered == self.length, "settled is what was written"
        whole, cut, margin = self._latest, quietest(self._open), _samples(_OVERLAP_MS // 2)
        left = self._model.transcribe(self._open[: cut + margin], whole.tokens)
        count = _covers(_keys(left.words), _keys(whole.words))
        after = whole.words[count - 1].ends if count else 0
        right = self._model.transcribe(self._open[cut - margin :], whole.tokens[after:])
        if self._agree(left, right, count):
            self._settled += self._spelled(whole.words)[:count]
            self._spelling = whole.words[count] if count < len(whole.words) else None
        elif self._open.size >= self._window_max:
            self._settled += left.words
            self._spelling = None
        else:
            self._look_at = min(self._open.size + _samples(_LOOK_MS), self._window_max)
            return
        self._earlier = self._earlier[count:]
        self._open, self._latest = self._open[cut - margin :].copy(), right
        self._look_at = self._window

    def _catch_up(self) -> None:
        """Much audio came at once: no time for partial texts, and too much for the model."""
        cut = quietest(self._open[: self._window_max])
        self._settled += self._model.transcribe(self._open[:cut], self._latest.tokens).words
        self._open, self._latest, self._spelling = self._open[cut:], NOTHING, None

    def _agree(self, left: Transcription, right: Transcription, count: int) -> bool:
        """Do the halves say what the whole says, and did the first say so one transcript before?"""
        keys = _keys(self._latest.words)
        halves = _keys(left.words) + _keys(right.words)
        return count > 0 and halves == keys and self._earlier[:count] == keys[:count]

    # -- Telling

    def _tell(self) -> Hypothesis:
        words = self._settled + self._spelled(self._latest.words)
        text = " ".join(word.text for word in words)
        if words_of(self._told.text) != words_of(text):
            self._changed_at = self.length
        self._stability = self._stability.heard(text)
        self._told = Hypothesis(
            text,
            mean_confidence(words),
            self._stability.score,
            (self.length - self._changed_at) * 1000 // RATE_HZ,
            len(self._settled),
            words[-1].confidence if words else None,
        )
        return self._told

    def _spelled(self, words: Sequence[WrittenWord]) -> list[WrittenWord]:
        """A cut within a sentence makes no capital letter."""
        first = self._spelling
        if first is None or not words or _key(words[0]) != _key(first):
            return list(words)
        return [first, *words[1:]]


def _samples(ms: int) -> int:
    return ms * RATE_HZ // 1000


def _key(word: WrittenWord) -> str:
    return " ".join(words_of(word.text))


def _keys(words: Sequence[WrittenWord]) -> list[str]:
    return [_key(word) for word in words]


def quietest(audio: Samples) -> int:
    """Where to cut: the middle of the quietest moment that is neither near the beginning nor the end."""
    grain, span = _samples(_GRAIN_MS), _OVERLAP_MS // _GRAIN_MS
    power = np.square(audio[: audio.size // grain * grain].reshape(-1, grain)).mean(axis=1)
    moments: NDArray[np.float64] = np.convolve(power, np.ones(span), "valid")
    first, last = _HEAD_MS // _GRAIN_MS, power.size - _REST_MS // _GRAIN_MS - span
    return (first + int(moments[first:last].argmin())) * grain + grain * span // 2


def _covers(left: Sequence[str], whole: Sequence[str]) -> int:
    """How many words of the whole the left half says: where it takes the fewest changes."""
    row = list(range(len(whole) + 1))  # the changes from no word to the first n of the whole
    for taken, word in enumerate(left, 1):
        above, row = row, [taken]
        for at, other in enumerate(whole):
            row.append(min(above[at] + (word != other), above[at + 1] + 1, row[at] + 1))
    return min(range(len(row)), key=lambda count: (row[count], count))
