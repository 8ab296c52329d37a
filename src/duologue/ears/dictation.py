"""Streaming transcription of one utterance: partial transcripts while the utterance grows, then a final one.

The model can only transcribe a whole piece of audio, so the audio is transcribed again and again while it grows. This
would take too long for long utterances, so older audio is settled: its words become fixed and its audio is dropped.
Audio that isn't settled yet is called open. Rule: audio is cut only where the transcripts of both halves together equal
the transcript of the whole. If no such place is found for too long, the audio is cut at its quietest place anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from duologue.turns.stability import Stability
from duologue.turns.words import words_of

from .model_input import RATE_HZ, NDArray, Samples, np
from .moonshine import NOTHING, Transcription, mean_confidence
from .stream_state import Hypothesis
from .token_vocabulary import WrittenWord

WINDOW_MS = 4_000  # when more audio than this is open, a cut is tried
WINDOW_MS_MAX = 7_000  # when more audio than this is open, it is cut even if the transcripts differ
_BACKLOG = 2  # more open audio than this times WINDOW_MS_MAX is cut without comparing transcripts
_LOOK_MS = 1_000  # how much more audio arrives before the next attempt to cut
_HEAD_MS = 1_500  # no cut before this: a few words alone are hard to transcribe
_REST_MS = 1_200  # no cut this close to the end: the words there may still change
_OVERLAP_MS = 120  # both halves contain this much audio around a cut
_GRAIN_MS = 20


class Transcribes(Protocol):
    """A speech-to-text model."""

    partial_ms: int
    """How much new audio to wait for between two partial transcripts of an utterance."""

    def load(self) -> None: ...

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription: ...


class Dictation:
    """The transcription of one utterance. Takes audio at 16 kHz in pieces of any length."""

    def __init__(self, model: Transcribes, window_ms: int = WINDOW_MS, window_ms_max: int = WINDOW_MS_MAX) -> None:
        assert _HEAD_MS + _REST_MS < window_ms <= window_ms_max, (window_ms, window_ms_max)
        self._model = model
        self._window, self._window_max = _samples(window_ms), _samples(window_ms_max)
        self._open: Samples = np.empty(0, np.float32)
        self._settled: list[WrittenWord] = []
        self._settled_tokens: tuple[int, ...] = ()
        self._latest = NOTHING  # the transcript of the open audio
        self._earlier: list[str] = []  # the words of the previous transcript
        self._spelling: WrittenWord | None = None  # the first open word as it was spelled before the cut
        self._look_at = self._window  # the number of open samples at which the next cut is tried
        self._changed_at = 0
        self._stability = Stability()
        self._reported = Hypothesis()
        self.length = 0  # all audio so far, in samples
        self.covered = 0  # how much of it the latest hypothesis covers

    def add(self, samples: Samples) -> None:
        """Add audio, without transcribing it yet."""
        self._open = np.concatenate((self._open, samples))
        self.length += samples.size

    def write(self) -> Hypothesis:
        """Transcribe the open audio and return the transcript of the whole utterance so far."""
        while self._open.size > _BACKLOG * self._window_max:
            self._catch_up()
        self._earlier = _keys(self._latest.words)
        self._latest = self._model.transcribe(self._open, self._latest.tokens)
        self.covered = self.length
        return self._report()

    def finish(self, voiced: int) -> Hypothesis:
        """The final transcript. Only the first `voiced` samples contain speech. If the latest transcript covers all of
        them, that transcript is returned, because the silence after them needs no transcription. Otherwise the open
        audio is transcribed."""
        return self._reported if self.covered >= voiced > 0 else self.write()

    # -- Settling

    @property
    def is_long(self) -> bool:
        """Is there so much open audio that `settle` should be called before the next `write`?"""
        return self.covered == self.length and self._open.size >= self._look_at

    def settle(self) -> None:
        """Cut the open audio at its quietest place, if that doesn't change the words or if too much audio is open. The
        words before the cut become fixed, and their audio is dropped. This takes about twice as long as `write`, so it
        is a separate function, which can be called after the transcript was reported."""
        assert self.covered == self.length, "call `write` before `settle`"
        whole, cut, margin = self._latest, quietest(self._open), _samples(_OVERLAP_MS // 2)
        left = self._model.transcribe(self._open[: cut + margin], whole.tokens)
        count = _covers(_keys(left.words), _keys(whole.words))
        after = whole.words[count - 1].ends if count else 0
        right = self._model.transcribe(self._open[cut - margin :], whole.tokens[after:])
        if self._agree(left, right, count):
            self._settled += self._spelled(whole.words)[:count]
            self._settled_tokens += whole.tokens[:after]
            self._spelling = whole.words[count] if count < len(whole.words) else None
        elif self._open.size >= self._window_max:
            self._settled += left.words
            self._settled_tokens += left.tokens
            self._spelling = None
        else:
            self._look_at = min(self._open.size + _samples(_LOOK_MS), self._window_max)
            return
        self._earlier = self._earlier[count:]
        self._open, self._latest = self._open[cut - margin :].copy(), right
        self._look_at = self._window

    def _catch_up(self) -> None:
        """Settle the first part of the open audio without comparing transcripts. Called if too much audio has arrived
        at once."""
        cut = quietest(self._open[: self._window_max])
        first = self._model.transcribe(self._open[:cut], self._latest.tokens)
        self._settled += first.words
        self._settled_tokens += first.tokens
        self._open, self._latest, self._spelling = self._open[cut:], NOTHING, None

    def _agree(self, left: Transcription, right: Transcription, count: int) -> bool:
        """Do the transcripts of both halves together have the same words as the transcript of the whole? And did the
        previous transcript already start with the words of the first half? True only if both are the case."""
        keys = _keys(self._latest.words)
        halves = _keys(left.words) + _keys(right.words)
        return count > 0 and halves == keys and self._earlier[:count] == keys[:count]

    # -- Reporting

    def _report(self) -> Hypothesis:
        words = self._settled + self._spelled(self._latest.words)
        text = " ".join(word.text for word in words)
        if words_of(self._reported.text) != words_of(text):
            self._changed_at = self.length
        self._stability = self._stability.heard(text)
        self._reported = Hypothesis(
            text,
            mean_confidence(words),
            self._stability.score,
            (self.length - self._changed_at) * 1000 // RATE_HZ,
            len(self._settled),
            words[-1].confidence if words else None,
            self._settled_tokens + self._latest.tokens,
        )
        return self._reported

    def _spelled(self, words: Sequence[WrittenWord]) -> list[WrittenWord]:
        """These words, with the first word spelled as it was before the cut. The model starts every piece of audio with
        a capital letter, even in the middle of a sentence."""
        first = self._spelling
        if first is None or not words or _key(words[0]) != _key(first):
            return list(words)
        return [first, *words[1:]]


def hypothesis_of(whole: Transcription) -> Hypothesis:
    """Convert the transcription of a whole utterance to a Hypothesis."""
    last = whole.words[-1].confidence if whole.words else None
    return Hypothesis(whole.text, whole.confidence, 1.0, last_confidence=last, tokens=whole.tokens)


def _samples(ms: int) -> int:
    return ms * RATE_HZ // 1000


def _key(word: WrittenWord) -> str:
    return " ".join(words_of(word.text))


def _keys(words: Sequence[WrittenWord]) -> list[str]:
    return [_key(word) for word in words]


def quietest(audio: Samples) -> int:
    """The index of the sample at which to cut the audio: the middle of its quietest moment. Moments near the start or
    the end of the audio aren't considered."""
    grain, span = _samples(_GRAIN_MS), _OVERLAP_MS // _GRAIN_MS
    power = np.square(audio[: audio.size // grain * grain].reshape(-1, grain)).mean(axis=1)
    moments: NDArray[np.float64] = np.convolve(power, np.ones(span), "valid")
    first, last = _HEAD_MS // _GRAIN_MS, power.size - _REST_MS // _GRAIN_MS - span
    return (first + int(moments[first:last].argmin())) * grain + grain * span // 2


def _covers(left: Sequence[str], whole: Sequence[str]) -> int:
    """How many words at the start of `whole` correspond to the words in `left`. This is the number n for which the edit
    distance between `left` and the first n words of `whole` is smallest."""
    row = list(range(len(whole) + 1))  # edits from no word to the first n words of the whole
    for taken, word in enumerate(left, 1):
        above, row = row, [taken]
        for at, other in enumerate(whole):
            row.append(min(above[at] + (word != other), above[at + 1] + 1, row[at] + 1))
    return min(range(len(row)), key=lambda count: (row[count], count))
