"""Voice activity detection (VAD) with the model Silero, in frames of 32 ms.

Returns probabilities of speech, which `speech_gate` turns into onsets and ends. A few frames are judged one by one
(`silero_net`), and more frames in one run for all (`silero_graph`). While there is digital silence, only the recurrent
part of the model runs. If the model is unsure about a sound, the sound is judged twice (`second_look`). Rule: the
memory of each stream is a separate object, so that one run of the model can serve many streams.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .model_input import OnnxSession, Samples, UnusableAudio, UnusableModel, checked, find_file, np, session
from .second_look import SoundDoubt, raised
from .silero_graph import faster_graph
from .silero_net import CONTEXT_SAMPLES, FRAME_SAMPLES, MEMORY, Numbers, SileroNet, runs_in_one_thread

FRAME_MS = 32
FEW_MAX = 3 if runs_in_one_thread() else 0  # up to this many frames, one run for each is faster than a shared run
_HALF = FRAME_SAMPLES // 2
_SHAPE = (FRAME_SAMPLES,)
_FLOAT = np.dtype(np.float32)
_POWER_FINE = 256.0  # if the squares of a frame add up to at most this, no sample is NaN, infinite or above 16
_nets: dict[Path, SileroNet] = {}
_loading = threading.Lock()


class VadMemory:
    """The model's recurrent state for one stream. If `looks_twice` is false, every frame is judged once."""

    __slots__ = ("before", "cell", "context", "doubt", "hidden", "is_silent", "looks_twice", "probability", "second")

    def __init__(self, looks_twice: bool = True) -> None:
        self.looks_twice = looks_twice
        self.forget()

    def forget(self) -> None:
        """Clear the memory, because a new stream starts."""
        self.hidden: Numbers = np.zeros(MEMORY, np.float32)
        self.cell: Numbers = np.zeros(MEMORY, np.float32)
        self.context: Samples = np.zeros(CONTEXT_SAMPLES, np.float32)
        self.is_silent = True  # was the latest frame digital silence?
        self.probability = 0.0  # the probability of speech in the latest frame
        self.doubt = SoundDoubt()
        self.before: Samples = np.zeros(FRAME_SAMPLES, np.float32)  # the latest frame
        self.second: VadMemory | None = None  # the memory for second looks, while these are needed

    def start_second(self, hidden: Numbers, cell: Numbers) -> VadMemory:
        """Return the memory for judging frames a second time. If there isn't one yet, make it from the memory that the
        first judgement had before this frame."""
        if self.second is None:
            self.second = VadMemory(looks_twice=False)
            self.second.hidden, self.second.cell = hidden, cell
            self.second.context = self.before[_HALF - CONTEXT_SAMPLES : _HALF]
        return self.second


class _Stream(NamedTuple):
    frame: Samples
    memory: VadMemory
    is_silent: bool


class SileroVad:
    """The VAD of one stream."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = find_file("silero-vad", ["silero_vad.onnx"], folder)
        self._net: SileroNet | None = None
        self._whole: OnnxSession | None = None
        self.memory = VadMemory()

    def load(self) -> None:
        """Load the model now rather than when the first frame arrives."""
        self._net = _net(self._file)
        self._whole = session(self._file, rewritten=faster_graph)

    def _loaded_net(self) -> SileroNet:
        self.load()
        assert self._net is not None
        return self._net

    def probability(self, frame: Samples) -> float:
        """The probability of speech in the next 512 samples at 16 kHz."""
        return self.judge(frame, self.memory)

    def judge(self, frame: Samples, memory: VadMemory) -> float:
        """The probability of speech in the next frame of the stream with this memory. The memory is updated."""
        if not FEW_MAX:
            return self.probabilities([frame], [memory])[0]
        hidden, cell, doubt = memory.hidden, memory.cell, memory.doubt
        self._hear(memory, frame, _power(frame) == 0)
        first = memory.probability
        if memory.looks_twice and doubt.needs_look(first):
            second = memory.start_second(hidden, cell)
            self._hear(second, _shifted(memory, frame), is_silent=False)
            memory.probability = raised(first, second.probability)
            doubt.note(first, memory.probability, is_twice=True)
        else:
            memory.second = None
            doubt.note(first, first, is_twice=False)
        memory.before = frame
        return memory.probability

    def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]:
        """The probability of speech in the next frame of each stream, for many streams at once. `memories` contains the
        memory of each stream, in the same order; the memories are updated."""
        assert len(frames) == len({id(memory) for memory in memories}), "each stream needs one frame and its own memory"
        if len(frames) <= FEW_MAX:
            return [self.judge(frame, memory) for frame, memory in zip(frames, memories, strict=True)]
        streams = [_Stream(frame, memory, _power(frame) == 0) for frame, memory in zip(frames, memories, strict=True)]
        earlier = [(memory.hidden, memory.cell) for memory in memories]
        self._judge(streams)
        self._look_again(streams, earlier)
        return [memory.probability for memory in memories]

    def _look_again(self, streams: Sequence[_Stream], earlier: Sequence[tuple[Numbers, Numbers]]) -> None:
        """Judge unsure sounds a second time, in frames that begin half a frame earlier. `earlier` contains what each
        memory held before this frame."""
        again: list[tuple[VadMemory, _Stream]] = []
        for (frame, memory, _), (hidden, cell) in zip(streams, earlier, strict=True):
            if memory.looks_twice and memory.doubt.needs_look(memory.probability):
                second = _Stream(_shifted(memory, frame), memory.start_second(hidden, cell), is_silent=False)
                again.append((memory, second))
            else:
                memory.second = None
                memory.doubt.note(memory.probability, memory.probability, is_twice=False)
            memory.before = frame
        if again:
            self._judge([stream for _, stream in again])
        for memory, stream in again:
            first = memory.probability
            memory.probability = raised(first, stream.memory.probability)
            memory.doubt.note(first, memory.probability, is_twice=True)

    def _judge(self, streams: Sequence[_Stream]) -> None:
        """Run the model for one frame of each stream, and update the memories. Streams with digital silence are judged
        one by one. All other streams share one run, unless there are so few that they are judged one by one, too."""
        silent = [stream for stream in streams if FEW_MAX and stream.is_silent and stream.memory.is_silent]
        sounding = [stream for stream in streams if not (FEW_MAX and stream.is_silent and stream.memory.is_silent)]
        alone, together = (sounding, []) if len(sounding) <= FEW_MAX else ([], sounding)
        for frame, memory, is_silent in (*silent, *alone):
            self._hear(memory, frame, is_silent)
        if together:
            self._hear_together(together)

    def _hear(self, memory: VadMemory, frame: Samples, is_silent: bool) -> None:
        """Run the model for the next frame of one stream."""
        net = self._net or self._loaded_net()
        if is_silent and memory.is_silent:
            memory.probability, memory.hidden, memory.cell = net.hear_silence(memory.hidden, memory.cell)
        else:
            heard = net.hear(memory.context, frame, memory.hidden, memory.cell)
            memory.probability, memory.hidden, memory.cell = heard
        memory.context, memory.is_silent = frame[-CONTEXT_SAMPLES:], is_silent

    def _hear_together(self, streams: Sequence[_Stream]) -> None:
        """Run the model once for all these streams."""
        if self._whole is None:
            self.load()
        assert self._whole is not None
        heard = [part for stream in streams for part in (stream.memory.context, stream.frame)]
        given = {
            "heard": _table(heard, streams),
            "hidden": _table([stream.memory.hidden for stream in streams], streams),
            "cell": _table([stream.memory.cell for stream in streams], streams),
        }
        found, hidden, cell = self._whole.run(None, given)
        for place, stream in enumerate(streams):
            memory = stream.memory
            memory.probability, memory.hidden, memory.cell = float(found[place, 0]), hidden[place], cell[place]
            memory.context, memory.is_silent = stream.frame[-CONTEXT_SAMPLES:], stream.is_silent


def _net(file: Path) -> SileroNet:
    """The network with the weights in this file. It is loaded once."""
    with _loading:
        if file not in _nets:
            try:
                _nets[file] = SileroNet(file.read_bytes())
            except (OSError, ValueError) as problem:
                raise UnusableModel(f"{file} can't be loaded: {problem}") from None
        return _nets[file]


def _shifted(memory: VadMemory, frame: Samples) -> Samples:
    """The frame that begins half a frame earlier than this one."""
    return np.concatenate((memory.before[_HALF:], frame[:_HALF]))


def _table(parts: Sequence[Numbers], rows: Sequence[_Stream]) -> Numbers:
    return np.concatenate(parts).reshape(len(rows), -1)


def _power(frame: Samples) -> float:
    """The sum of the squares of these samples. Raises `UnusableAudio` if the model can't process the samples."""
    is_frame = isinstance(frame, np.ndarray) and frame.dtype == _FLOAT and frame.shape == _SHAPE
    if is_frame and (power := float(np.dot(frame, frame))) <= _POWER_FINE:
        return power
    if checked(frame).size != FRAME_SAMPLES:
        raise UnusableAudio(f"a frame needs {FRAME_SAMPLES} samples, not {frame.size}")
    return float(np.dot(frame, frame))


__all__ = ["FEW_MAX", "FRAME_MS", "FRAME_SAMPLES", "SileroVad", "VadMemory"]
