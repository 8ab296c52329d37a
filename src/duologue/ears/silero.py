"""Voice activity detection (VAD) by Silero, 32 ms at a time.

Returns probabilities of speech, which `speech_gate` turns into onsets and ends. Rule: the memory of each stream is a
separate object, so that one run of the model can serve many streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .model_input import NDArray, OnnxSession, Samples, UnusableAudio, checked, find_file, np, session

FRAME_SAMPLES = 512
FRAME_MS = 32
_CONTEXT = 64  # samples of the previous frame that the model gets again
_RATE = np.array(16_000, np.int64)
_POWER_FINE = 256.0  # if the squares of a frame add up to at most this, no sample is NaN, infinite or above 16


class VadMemory:
    """The model's recurrent state for one stream."""

    __slots__ = ("context", "probability", "state")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Clear the memory, because a new stream starts."""
        self.state: NDArray[np.float32] = np.zeros((2, 1, 128), np.float32)
        self.context: Samples = np.zeros(_CONTEXT, np.float32)
        self.probability = 0.0  # of speech in the latest frame


class SileroVad:
    """The VAD of one stream."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = find_file("silero-vad", ["silero_vad.onnx"], folder)
        self.memory = VadMemory()

    def load(self) -> None:
        """Load the model now rather than when the first frame arrives."""
        self.probabilities([np.zeros(FRAME_SAMPLES, np.float32)], [VadMemory()])

    def probability(self, frame: Samples) -> float:
        """The probability of speech in the next 512 samples at 16 kHz."""
        return self.probabilities([frame], [self.memory])[0]

    def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]:
        """The probabilities of speech in the next frame of each stream, from one run of the model. `memories` has the
        memory of each stream, in the same order, and is updated."""
        assert len(frames) == len({id(memory) for memory in memories}), "each stream needs one frame and its own memory"
        for frame in frames:
            _check(frame)
        if frames:
            self._run(list(zip(frames, memories, strict=True)))
        return [memory.probability for memory in memories]

    def _run(self, streams: Sequence[tuple[Samples, VadMemory]]) -> None:
        heard = np.empty((len(streams), _CONTEXT + FRAME_SAMPLES), np.float32)
        for row, (frame, memory) in zip(heard, streams, strict=True):
            row[:_CONTEXT] = memory.context
            row[_CONTEXT:] = frame
        state = np.concatenate([memory.state for _, memory in streams], axis=1)
        found, after = self._session().run(None, {"input": heard, "state": state, "sr": _RATE})
        for place, (frame, memory) in enumerate(streams):
            memory.state = after[:, place : place + 1].copy()  # not a view, which would keep those of all streams
            memory.context = frame[-_CONTEXT:].copy()
            memory.probability = float(found[place, 0])

    def _session(self) -> OnnxSession:
        return session(self._file)


def _check(frame: Samples) -> None:
    """Raise `UnusableAudio` if a model can't process this frame."""
    is_frame = isinstance(frame, np.ndarray) and frame.dtype == np.float32 and frame.shape == (FRAME_SAMPLES,)
    if is_frame and np.dot(frame, frame) <= _POWER_FINE:
        return
    if checked(frame).size != FRAME_SAMPLES:
        raise UnusableAudio(f"a frame needs {FRAME_SAMPLES} samples, not {frame.size}")
