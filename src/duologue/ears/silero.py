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


class VadMemory:
    """The model's recurrent state for one stream."""

    __slots__ = ("context", "state")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Clear the memory, because a new stream starts."""
        self.state: NDArray[np.float32] = np.zeros((2, 128), np.float32)
        self.context: Samples = np.zeros(_CONTEXT, np.float32)


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
        if not frames:
            return []
        heard = np.stack(
            [np.concatenate((memory.context, _frame(frame))) for frame, memory in zip(frames, memories, strict=True)]
        )
        state = np.stack([memory.state for memory in memories], axis=1)
        found, after = self._session().run(None, {"input": heard, "state": state, "sr": _RATE})
        for place, memory in enumerate(memories):
            memory.state = after[:, place]
            memory.context = heard[place, -_CONTEXT:]
        return [float(probability) for probability in found[:, 0]]

    def _session(self) -> OnnxSession:
        return session(self._file)


def _frame(samples: Samples) -> Samples:
    if checked(samples).size != FRAME_SAMPLES:
        raise UnusableAudio(f"a frame needs {FRAME_SAMPLES} samples, not {samples.size}")
    return samples
