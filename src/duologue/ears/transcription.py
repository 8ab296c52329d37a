"""One utterance on its way to text, between the loop that hears it and the thread that writes it down.

The loop adds audio and says what it wants; a thread works. Rule: the thread looks at what is wanted when it
begins, not when it was asked: a partial text that nobody got to becomes the final one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from .dictation import Dictation, Hypothesis, Transcribes
from .model_input import RATE_HZ, Samples, np
from .model_threads import ModelLane, ModelThreads, Urgency


@dataclass(frozen=True, slots=True)
class TextPace:
    """When text is wanted: so long after the onset, then so often."""

    first_ms: int
    every_ms: int


@dataclass(frozen=True, slots=True)
class TranscriptionResult:
    """What came of one piece of work; `text` is None if audio was merely put in order."""

    text: Hypothesis | None
    is_final: bool


class UtteranceTranscription:
    """What was said between two onsets."""

    def __init__(
        self,
        number: int,
        model: Transcribes,
        threads: ModelThreads,
        audio: Iterable[Samples],
        pace: TextPace | None = None,
    ) -> None:
        pace = pace or TextPace(model.partial_ms // 2, model.partial_ms)  # short words want to be known soon
        self.number = number
        self.lane = ModelLane(threads, Urgency.PARTIAL)
        self.is_forgotten = False
        self.is_committed = False  # its turn is over: its text is told as it is
        self.is_long = False  # there is something to settle
        self.is_due = False  # there is something to write
        self._incoming = deque(audio)
        self.length = sum(samples.size for samples in self._incoming)
        self._every = pace.every_ms * RATE_HZ // 1000
        self._due_at = self.length + pace.first_ms * RATE_HZ // 1000
        self._is_over = False
        self._voiced = 0
        self._dictation = Dictation(model)

    # -- On the loop

    def add(self, samples: Samples) -> None:
        self._incoming.append(samples)
        self.length += samples.size
        if self.length >= self._due_at:
            self.ask()

    def ask(self) -> None:
        """A text is wanted now."""
        self.is_due = True
        self._due_at = self.length + self._every

    def end(self, voiced: int) -> None:
        """Nothing more comes, and after this many samples nothing more was said."""
        self._voiced = voiced
        self._is_over = True
        self.lane.urgency = Urgency.FINAL

    @property
    def has_work(self) -> bool:
        return self._is_over or self.is_due or self.is_long

    # -- In a thread

    def work(self) -> TranscriptionResult:
        """Whatever is wanted most. Settling comes before writing: what grows too long is written ever more
        slowly."""
        if self._is_over:  # asked before its audio is taken: what came until then is all there is
            self._take_audio()
            return TranscriptionResult(self._dictation.finish(self._voiced), True)
        if self.is_long:
            self._dictation.settle()
            self.is_long = False
            return TranscriptionResult(None, False)
        self.is_due = False
        self._take_audio()
        written = self._dictation.write()
        self.is_long = self._dictation.is_long
        return TranscriptionResult(written, False)

    def _take_audio(self) -> None:
        taken = []
        while self._incoming:
            taken.append(self._incoming.popleft())
        if taken:
            self._dictation.add(np.concatenate(taken))
