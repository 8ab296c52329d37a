"""One run of the voice detector for many conversations.

Frames that come in while a run is under way go into the next one together; when nobody else speaks, a frame waits
for nothing. Rule: a stream has one frame in a run, because its memory is the one that the frame before left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

from .model_input import Samples
from .model_threads import ModelLane
from .silero import VadMemory

BATCH_MAX = 256


class Batches(Protocol):
    """A voice detector that hears many streams at once."""

    def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]: ...


class _Ask(NamedTuple):
    frame: Samples
    memory: VadMemory
    answer: asyncio.Future[float]


class VadBatch:
    """The frames of one event loop."""

    def __init__(self, vad: Batches, lane: ModelLane) -> None:
        self._vad = vad
        self._lane = lane
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Ask] = []
        self._is_running = False

    def ask(self, frame: Samples, memory: VadMemory) -> asyncio.Future[float]:
        """How likely this frame holds speech."""
        answer: asyncio.Future[float] = self._loop.create_future()
        self._waiting.append(_Ask(frame, memory, answer))
        if not self._is_running:
            self._is_running = True
            self._loop.call_soon(self._run)  # so that all that has just come in goes together
        return answer

    def _run(self) -> None:
        asked, self._waiting = self._waiting[:BATCH_MAX], self._waiting[BATCH_MAX:]
        asked = [one for one in asked if not one.answer.done()]
        if not asked:
            self._is_running = False
            return
        frames, memories = [one.frame for one in asked], [one.memory for one in asked]
        running = self._loop.run_in_executor(self._lane, self._vad.probabilities, frames, memories)
        running.add_done_callback(lambda done: self._answer(asked, done))

    def _answer(self, asked: list[_Ask], done: asyncio.Future[list[float]]) -> None:
        failure = None if done.cancelled() else done.exception()
        for place, one in enumerate(asked):
            if one.answer.done():
                continue
            if done.cancelled():
                one.answer.cancel()
            elif failure is not None:
                one.answer.set_exception(failure)
            else:
                one.answer.set_result(done.result()[place])
        if self._waiting:
            self._run()
        else:
            self._is_running = False


class VadBatches:
    """One batch for each event loop, all of one detector."""

    def __init__(self) -> None:
        self._batches: WeakKeyDictionary[asyncio.AbstractEventLoop, VadBatch] = WeakKeyDictionary()

    def of_loop(self, vad: Batches, lane: ModelLane) -> VadBatch:
        loop = asyncio.get_running_loop()
        if loop not in self._batches:
            self._batches[loop] = VadBatch(vad, lane)
        return self._batches[loop]
