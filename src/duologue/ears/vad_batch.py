"""One run of the voice detector for many conversations.

All frames that arrive during a run are processed together in the next run. A frame that arrives while no run is active
doesn't wait. Rule: a run contains at most one frame of each stream, because each frame needs the memory that the
previous frame left.
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
    """A voice detector that processes many streams in one run."""

    def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]: ...


class _Request(NamedTuple):
    frame: Samples
    memory: VadMemory
    answer: asyncio.Future[float]


class VadBatch:
    """Collects the frames that arrive on one event loop, and processes them in shared runs."""

    def __init__(self, vad: Batches, lane: ModelLane) -> None:
        self._vad = vad
        self._lane = lane
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Request] = []
        self._is_running = False

    def request(self, frame: Samples, memory: VadMemory) -> asyncio.Future[float]:
        """A future for the probability of speech in this frame."""
        answer: asyncio.Future[float] = self._loop.create_future()
        self._waiting.append(_Request(frame, memory, answer))
        if not self._is_running:
            self._is_running = True
            self._loop.call_soon(self._run)  # so that all frames that arrive now share a run
        return answer

    def abandon(self) -> None:
        """The current run hangs: give up its thread."""
        self._lane.abandon()

    def _run(self) -> None:
        requests, self._waiting = self._waiting[:BATCH_MAX], self._waiting[BATCH_MAX:]
        requests = [request for request in requests if not request.answer.done()]
        if not requests:
            self._is_running = False
            return
        frames, memories = [request.frame for request in requests], [request.memory for request in requests]
        running = self._loop.run_in_executor(self._lane, self._vad.probabilities, frames, memories)
        running.add_done_callback(lambda done: self._answer(requests, done))

    def _answer(self, requests: list[_Request], done: asyncio.Future[list[float]]) -> None:
        failure = None if done.cancelled() else done.exception()
        for place, request in enumerate(requests):
            if request.answer.done():
                continue
            if done.cancelled():
                request.answer.cancel()
            elif failure is not None:
                request.answer.set_exception(failure)
            else:
                request.answer.set_result(done.result()[place])
        if self._waiting:
            self._run()
        else:
            self._is_running = False


class VadBatches:
    """One `VadBatch` for each event loop, all with the same detector."""

    def __init__(self) -> None:
        self._batches: WeakKeyDictionary[asyncio.AbstractEventLoop, VadBatch] = WeakKeyDictionary()

    def of_loop(self, vad: Batches, lane: ModelLane) -> VadBatch:
        """The `VadBatch` of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._batches:
            self._batches[loop] = VadBatch(vad, lane)
        return self._batches[loop]

    def abandon(self) -> None:
        """The current run on the running event loop hangs: the next request gets a new `VadBatch`."""
        if (hanging := self._batches.pop(asyncio.get_running_loop(), None)) is not None:
            hanging.abandon()
