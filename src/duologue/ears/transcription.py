"""The transcription of the utterances of one stream. The event loop, which adds audio, and the thread that runs the
model share it.

The loop adds frames and requests transcripts, and a thread transcribes. Rule: what to do is decided when the thread
starts the work, not when the work is queued. If an utterance has ended by then, a requested partial transcript becomes
the final one.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import islice

from .dictation import Dictation, Transcribes
from .model_input import Samples, np
from .silero import FRAME_SAMPLES
from .stream_state import RequestText, TextWork, TextWritten


class StreamTranscription:
    """The audio of one stream that is still needed, and the transcription of the oldest utterance in it."""

    def __init__(self, model: Transcribes) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._frames: deque[Samples] = deque()
        self._start = 0  # the position of the oldest frame
        self._waiting: RequestText | None = None  # the request that no thread has started
        self._current: RequestText | None = None  # the newest request that a thread has started
        self._number = 0  # the utterance that the dictation belongs to
        self._dictation: Dictation | None = None
        self._taken = 0  # the dictation has the audio up to here

    # -- On the loop

    def add(self, frame: Samples) -> None:
        """Add the next frame of the stream."""
        with self._lock:
            self._frames.append(frame)

    def forget(self, before: int) -> None:
        """Drop the audio before this position."""
        if self._start >= before:
            return
        with self._lock:
            while self._start < before and self._frames:
                self._frames.popleft()
                self._start += 1

    def read(self, first: int, end: int) -> Samples:
        """The audio between these positions. Audio that was already dropped is missing from the result."""
        with self._lock:
            return self._between(first, end)

    def ask(self, request: RequestText) -> None:
        """Request a transcript. If no thread has started the previous request, this request replaces it."""
        with self._lock:
            self._waiting = request

    def withdraw(self) -> None:
        """Cancel a request that no thread has started."""
        with self._lock:
            self._waiting = None

    @property
    def is_asked(self) -> bool:
        """Is there a request that no thread has started?"""
        return self._waiting is not None

    def give_up(self) -> RequestText | None:
        """Abandon the work of the current request, because it has failed or hangs. The next request transcribes its
        utterance from the beginning. Returns the request that failed; None if it was withdrawn."""
        with self._lock:
            failed, self._current, self._dictation = self._current, None, None
            if failed is None:
                failed, self._waiting = self._waiting, None
            return failed

    # -- In a thread

    def work(self) -> TextWritten | None:
        """Do the work of the newest request. Returns None if the request was withdrawn."""
        with self._lock:
            request, self._waiting = self._waiting, None
            if request is None:
                return None
            self._current = request
            dictation = self._dictation_of(request)
            end = request.end if request.work is TextWork.FINAL else self._start + len(self._frames)
            if request.work is not TextWork.SETTLE:
                dictation.add(self._take(end))
        written = _do(dictation, request, end)
        with self._lock:
            if self._current is request:
                self._current = None
        return written

    def _dictation_of(self, request: RequestText) -> Dictation:
        if self._dictation is None or request.utterance != self._number:
            self._number, self._taken = request.utterance, request.first
            self._dictation = Dictation(self._model)
        return self._dictation

    def _take(self, end: int) -> Samples:
        """Return the audio, up to this position, that wasn't passed to the dictation yet. From now on, it counts as
        passed."""
        first, self._taken = self._taken, max(self._taken, end)
        return self._between(first, end)

    def _between(self, first: int, end: int) -> Samples:
        taken = list(islice(self._frames, max(0, first - self._start), max(0, end - self._start)))
        return np.concatenate(taken) if taken else np.empty(0, np.float32)


def _do(dictation: Dictation, request: RequestText, end: int) -> TextWritten:
    number, work = request.utterance, request.work
    if work is TextWork.FINAL:
        text = dictation.finish((request.voiced_end - request.first) * FRAME_SAMPLES)
        return TextWritten(number, work, text, end)
    if work is TextWork.SETTLE:
        if dictation.is_long:  # not after a dictation that was started again
            dictation.settle()
        return TextWritten(number, work)
    return TextWritten(number, work, dictation.write(), end, dictation.is_long)
