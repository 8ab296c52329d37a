"""Judges the frames of many conversations in one run of the voice detector, if they arrive in the same pass of the
event loop.

The detector runs on the event loop, because a run takes less time than passing a frame to a thread and waiting for the
result. Rule: a run contains at most one frame of each stream, because each frame needs the memory that the previous
frame left. It also contains only a limited number of frames, so that the event loop is never blocked for long.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from .model_input import Samples
from .silero import VadMemory

BATCH_MAX = 32  # a run with this many frames takes about 2 ms

Answer: TypeAlias = Callable[[float, Exception | None], None]
"""Called with the probability of speech in a frame; NaN and an exception if the detector failed."""


class Batches(Protocol):
    """A voice detector that processes many streams in one run."""

    def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]: ...


class _Request(NamedTuple):
    frame: Samples
    memory: VadMemory
    answer: Answer


class VadBatch:
    """Collects the frames that arrive on one event loop, and processes them in shared runs."""

    def __init__(self, vad: Batches) -> None:
        self._vad = vad
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Request] = []

    def ask(self, frame: Samples, memory: VadMemory, answer: Answer) -> None:
        """Judge this frame in the next pass of the event loop, and then call `answer` with the result. A stream asks
        about one frame at a time. `answer` must not raise an exception."""
        self._waiting.append(_Request(frame, memory, answer))
        if len(self._waiting) == 1:
            self._loop.call_soon(self._run)  # so that all frames that arrive now share a run

    def _run(self) -> None:
        requests, self._waiting = self._waiting[:BATCH_MAX], self._waiting[BATCH_MAX:]
        if self._waiting:
            self._loop.call_soon(self._run)
        failure: Exception | None = None
        try:
            found = self._vad.probabilities([asked.frame for asked in requests], [asked.memory for asked in requests])
        except Exception as raised:  # noqa: BLE001 - whatever a model raises, listening goes on
            found, failure = [math.nan] * len(requests), raised
        for asked, probability in zip(requests, found, strict=True):
            asked.answer(probability, failure)


class VadBatches:
    """One `VadBatch` for each event loop."""

    def __init__(self) -> None:
        self._batches: WeakKeyDictionary[asyncio.AbstractEventLoop, VadBatch] = WeakKeyDictionary()

    def of_loop(self, vad: Batches) -> VadBatch:
        """The `VadBatch` of the running event loop. It uses the detector that the first caller has passed."""
        loop = asyncio.get_running_loop()
        if loop not in self._batches:
            self._batches[loop] = VadBatch(vad)
        return self._batches[loop]
