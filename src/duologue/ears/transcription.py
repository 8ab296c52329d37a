"""The transcription of one utterance, shared by the event loop that adds audio and the thread that runs the model.

The loop adds audio and requests transcripts, and a thread transcribes. Rule: what to do is decided when the thread
starts the work, not when the work is queued. If the utterance has ended by then, a requested partial transcript becomes
the final one.
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
    """When partial transcripts are requested: the first one `first_ms` after the onset, then one every `every_ms`."""

    first_ms: int
    every_ms: int


@dataclass(frozen=True, slots=True)
class TranscriptionResult:
    """The result of one call of `work`. `text` is None if the call only settled audio."""

    text: Hypothesis | None
    is_final: bool


class UtteranceTranscription:
    """One utterance: its audio and the state of its transcription."""

    def __init__(
        self,
        number: int,
        model: Transcribes,
        threads: ModelThreads,
        audio: Iterable[Samples],
        pace: TextPace | None = None,
    ) -> None:
        # The first partial transcript comes early, so that short words are known soon.
        pace = pace or TextPace(model.partial_ms // 2, model.partial_ms)
        self.number = number
        self.lane = ModelLane(threads, Urgency.PARTIAL)
        self.is_forgotten = False
        self.is_committed = False  # its turn is over: its text is reported without asking whether it was speech
        self.is_long = False  # there is audio to settle
        self.is_due = False  # a partial transcript is requested
        self._incoming = deque(audio)
        self.length = sum(samples.size for samples in self._incoming)
        self._every = pace.every_ms * RATE_HZ // 1000
        self._due_at = self.length + pace.first_ms * RATE_HZ // 1000
        self._is_over = False
        self._voiced = 0
        self._dictation = Dictation(model)

    # -- On the loop

    def add(self, samples: Samples) -> None:
        """Add audio, and request a partial transcript if one is due."""
        self._incoming.append(samples)
        self.length += samples.size
        if self.length >= self._due_at:
            self.request()

    def request(self) -> None:
        """Request a partial transcript now."""
        self.is_due = True
        self._due_at = self.length + self._every

    def end(self, voiced: int) -> None:
        """End the utterance: no more audio follows. Its speech ended after `voiced` samples."""
        self._voiced = voiced
        self._is_over = True
        self.lane.urgency = Urgency.FINAL

    @property
    def has_work(self) -> bool:
        """Is there anything for `work` to do?"""
        return self._is_over or self.is_due or self.is_long

    # -- In a thread

    def work(self) -> TranscriptionResult:
        """Do one piece of work: the final transcript if the utterance has ended, otherwise settling if it is needed,
        otherwise a partial transcript. Settling comes before a partial transcript, because longer open audio takes
        longer to transcribe."""
        if self._is_over:  # checked before the audio is taken, so that all of it is included
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
