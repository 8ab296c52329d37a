"""Voice activity detection (VAD) by Silero, 32 ms at a time.

Returns probabilities of speech, which `speech_gate` turns into onsets and ends. Rule: the memory of each stream is a
separate object, so that one run of the model can serve many streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .model_input import NDArray, OnnxSession, Samples, UnusableAudio, checked, find_file, np, session
from .silero_graph import INPUT_SAMPLES, MEMORY, faster_graph

FRAME_SAMPLES = 512
FRAME_MS = 32
_CONTEXT = INPUT_SAMPLES - FRAME_SAMPLES  # samples of the previous frame that the model gets again
_POWER_FINE = 256.0  # if the squares of a frame add up to at most this, no sample is NaN, infinite or above 16


class VadMemory:
    """The model's recurrent state for one stream."""

    __slots__ = ("cell", "context", "hidden", "probability")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Clear the memory, because a new stream starts."""
        self.hidden: NDArray[np.float32] = np.zeros((1, MEMORY), np.float32)
        self.cell: NDArray[np.float32] = np.zeros((1, MEMORY), np.float32)
        self.context: Samples = np.zeros(_CONTEXT, np.float32)
        self.probability = 0.0  # of speech in the latest frame


class SileroVad:
    """The VAD of one stream."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = find_file("silero-vad", ["silero_vad.onnx"], folder)
        self._shared: OnnxSession | None = None
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
            self._run(frames, memories)
        return [memory.probability for memory in memories]

    def _run(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> None:
        parts = [part for place, memory in enumerate(memories) for part in (memory.context, frames[place])]
        found, hidden, cell = self._session().run(
            None,
            {
                "heard": np.concatenate(parts).reshape(-1, INPUT_SAMPLES),
                "hidden": _table([memory.hidden for memory in memories]),
                "cell": _table([memory.cell for memory in memories]),
            },
        )
        for place, memory in enumerate(memories):
            memory.hidden = hidden[place : place + 1]
            memory.cell = cell[place : place + 1]
            memory.context = frames[place][-_CONTEXT:]
            memory.probability = float(found[place, 0])

    def _session(self) -> OnnxSession:
        if self._shared is None:
            self._shared = session(self._file, rewritten=faster_graph)
        return self._shared


def _table(rows: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def _check(frame: Samples) -> None:
    """Raise `UnusableAudio` if a model can't process this frame."""
    is_frame = isinstance(frame, np.ndarray) and frame.dtype == np.float32 and frame.shape == (FRAME_SAMPLES,)
    if is_frame and np.dot(frame, frame) <= _POWER_FINE:
        return
    if checked(frame).size != FRAME_SAMPLES:
        raise UnusableAudio(f"a frame needs {FRAME_SAMPLES} samples, not {frame.size}")
