"""Voice activity detection (VAD) with the model Silero, in frames of 32 ms.

Returns probabilities of speech, which `speech_gate` turns into onsets and ends. While there is digital silence, only
the recurrent part of the model runs. If the model is unsure about a sound, the sound is judged twice (`second_look`).
Rule: the memory of each stream is a separate object, so that one run of the model can serve many streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .model_input import NDArray, OnnxSession, Samples, UnusableAudio, checked, find_file, np, session
from .second_look import SoundDoubt, raised
from .silero_graph import INPUT_SAMPLES, MEMORY, faster_graph, silent_graph

FRAME_SAMPLES = 512
FRAME_MS = 32
_HALF = FRAME_SAMPLES // 2
_CONTEXT = INPUT_SAMPLES - FRAME_SAMPLES  # samples of the previous frame that the model gets again
_POWER_FINE = 256.0  # if the squares of a frame add up to at most this, no sample is NaN, infinite or above 16


class VadMemory:
    """The model's recurrent state for one stream. If `looks_twice` is false, every frame is judged once."""

    __slots__ = ("before", "cell", "context", "doubt", "hidden", "is_silent", "looks_twice", "probability", "second")

    def __init__(self, looks_twice: bool = True) -> None:
        self.looks_twice = looks_twice
        self.forget()

    def forget(self) -> None:
        """Clear the memory, because a new stream starts."""
        self.hidden: NDArray[np.float32] = np.zeros((1, MEMORY), np.float32)
        self.cell: NDArray[np.float32] = np.zeros((1, MEMORY), np.float32)
        self.context: Samples = np.zeros(_CONTEXT, np.float32)
        self.is_silent = True  # was the latest frame digital silence?
        self.probability = 0.0  # of speech in the latest frame
        self.doubt = SoundDoubt()
        self.before: Samples = np.zeros(FRAME_SAMPLES, np.float32)  # the latest frame
        self.second: VadMemory | None = None  # of the second look, while there is one

    def start_second(self, hidden: NDArray[np.float32], cell: NDArray[np.float32]) -> VadMemory:
        """The memory for second looks. If there isn't one yet, it is made from the memory that the first look had
        before this frame."""
        if self.second is None:
            self.second = VadMemory(looks_twice=False)
            self.second.hidden, self.second.cell = hidden, cell
            self.second.context = self.before[_HALF - _CONTEXT : _HALF]
        return self.second


class _Stream(NamedTuple):
    frame: Samples
    memory: VadMemory
    is_silent: bool


class SileroVad:
    """The VAD of one stream."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = find_file("silero-vad", ["silero_vad.onnx"], folder)
        self._whole: OnnxSession | None = None
        self._silent: OnnxSession | None = None
        self.memory = VadMemory()

    def load(self) -> None:
        """Load the model now rather than when the first frame arrives."""
        silence = np.zeros(FRAME_SAMPLES, np.float32)
        self.probabilities([silence, np.ones_like(silence)], [VadMemory(), VadMemory()])

    def probability(self, frame: Samples) -> float:
        """The probability of speech in the next 512 samples at 16 kHz."""
        return self.probabilities([frame], [self.memory])[0]

    def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]:
        """The probability of speech in the next frame of each stream, for many streams at once. `memories` contains the
        memory of each stream, in the same order; the memories are updated."""
        assert len(frames) == len({id(memory) for memory in memories}), "each stream needs one frame and its own memory"
        sounding, silent = list[_Stream](), list[_Stream]()
        powers = [_power(frame) for frame in frames]
        for frame, memory, power in zip(frames, memories, powers, strict=True):
            (silent if power == 0 and memory.is_silent else sounding).append(_Stream(frame, memory, power == 0))
        earlier = [(memory.hidden, memory.cell) for memory in memories]
        if sounding:
            self.run_whole(sounding)
        if silent:
            self._run_silent(silent)
        self._look_again(frames, memories, earlier)
        return [memory.probability for memory in memories]

    def _look_again(
        self,
        frames: Sequence[Samples],
        memories: Sequence[VadMemory],
        earlier: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]],
    ) -> None:
        """Judge unsure sounds a second time, in frames that begin half a frame earlier. `earlier` contains what each
        memory held before this frame."""
        again: list[tuple[VadMemory, _Stream]] = []
        for frame, memory, (hidden, cell) in zip(frames, memories, earlier, strict=True):
            if memory.looks_twice and memory.doubt.needs_look(memory.probability):
                shifted = np.concatenate((memory.before[_HALF:], frame[:_HALF]))
                again.append((memory, _Stream(shifted, memory.start_second(hidden, cell), is_silent=False)))
            else:
                memory.second = None
                memory.doubt.note(memory.probability, memory.probability, is_twice=False)
            memory.before = frame
        if again:
            self.run_whole([stream for _, stream in again])
        for memory, stream in again:
            first = memory.probability
            memory.probability = raised(first, stream.memory.probability)
            memory.doubt.note(first, memory.probability, is_twice=True)

    def run_whole(self, streams: Sequence[_Stream]) -> None:
        if self._whole is None:
            self._whole = session(self._file, rewritten=faster_graph)
        parts = [part for stream in streams for part in (stream.memory.context, stream.frame)]
        heard = np.concatenate(parts).reshape(-1, INPUT_SAMPLES)
        _remember(streams, self._whole.run(None, {"heard": heard, **_memory(streams)}))

    def _run_silent(self, streams: Sequence[_Stream]) -> None:
        if self._silent is None:
            self._silent = session(self._file, rewritten=silent_graph)
        _remember(streams, self._silent.run(None, _memory(streams)))


def _memory(streams: Sequence[_Stream]) -> dict[str, NDArray[np.float32]]:
    return {
        "hidden": _table([stream.memory.hidden for stream in streams]),
        "cell": _table([stream.memory.cell for stream in streams]),
    }


def _remember(streams: Sequence[_Stream], answers: Sequence[NDArray[np.float32]]) -> None:
    found, hidden, cell = answers
    for place, (frame, memory, is_silent) in enumerate(streams):
        memory.hidden = hidden[place : place + 1]
        memory.cell = cell[place : place + 1]
        memory.context = frame[-_CONTEXT:]
        memory.is_silent = is_silent
        memory.probability = float(found[place, 0])


def _table(rows: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def _power(frame: Samples) -> float:
    """The sum of the squares of these samples. Raises `UnusableAudio` if the model can't process the samples."""
    is_frame = isinstance(frame, np.ndarray) and frame.dtype == np.float32 and frame.shape == (FRAME_SAMPLES,)
    if is_frame and (power := float(np.dot(frame, frame))) <= _POWER_FINE:
        return power
    if checked(frame).size != FRAME_SAMPLES:
        raise UnusableAudio(f"a frame needs {FRAME_SAMPLES} samples, not {frame.size}")
    return float(np.dot(frame, frame))
