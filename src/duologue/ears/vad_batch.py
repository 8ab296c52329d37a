"""Judges the frames of many conversations in one run of the voice detector.

The detector runs on the event loop, because a run takes less time than passing a frame to a thread and waiting for the
result. A run with few frames takes nearly as long as a run with many, because the detector's code and weights must
first be loaded into the caches of the CPU again. So if there are several conversations, the detector runs at most a
hundred times a second, and each frame waits for the next run. If there is only one conversation, its frames don't wait.
Rule: a run contains at most one frame of each stream, because each frame needs the memory from the previous frame of
its stream. The number of frames in a run is limited, so that the event loop is never blocked for long.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from .model_input import Samples
from .silero import VadMemory

BATCH_MAX = 32  # a run with this many frames takes about 2 ms
TICK_S = 0.01  # how long a frame waits at most, if there are several conversations
ALONE_MAX = 8  # if there is only one conversation, this many frames are judged before other work of the event loop runs

Answer: TypeAlias = Callable[[float, Exception | None], None]
"""A callback for the result about a frame. It gets the probability of speech and None. If the detector failed, it gets
NaN and the exception."""


class Batches(Protocol):
    """A voice detector that processes the frame of one stream, or the frames of many streams in one run."""

    def judge(self, frame: Samples, memory: VadMemory) -> float: ...

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
        self._streams = 0  # how many streams there are
        self._ran_at = -math.inf
        self._alone = 0  # how many frames were judged at once, without waiting, since the last pause
        self._is_running = False

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Count a stream as long as the `with` block runs. Use this while frames of the stream arrive."""
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    def ask(self, frame: Samples, memory: VadMemory, answer: Answer) -> None:
        """Judge this frame now or in the next run, and then call `answer` with the result. A stream asks about one
        frame at a time. `answer` must not raise an exception."""
        now_s = self._loop.time()
        since_s = now_s - self._ran_at
        if self._streams == 1 and not self._waiting and (since_s >= TICK_S or self._alone < ALONE_MAX):
            self._alone = 1 if since_s >= TICK_S else self._alone + 1
            self._ran_at = now_s
            self._judge_one(frame, memory, answer)
            return
        self._waiting.append(_Request(frame, memory, answer))
        if len(self._waiting) > 1:
            return
        if self._streams == 1 or since_s >= TICK_S or self._is_running:
            # All frames that arrive now share a run. A stream that asks again during a run is late, so it doesn't wait.
            self._loop.call_soon(self._run)
        else:
            self._loop.call_at(self._ran_at + TICK_S, self._run)

    def _run(self) -> None:
        requests, self._waiting = self._waiting[:BATCH_MAX], self._waiting[BATCH_MAX:]
        if self._waiting:
            self._loop.call_soon(self._run)
        self._alone, self._is_running, self._ran_at = 0, True, self._loop.time()
        if len(requests) == 1:
            self._judge_one(*requests[0])
        else:
            self._judge(requests)
        self._is_running = False

    def _judge_one(self, frame: Samples, memory: VadMemory, answer: Answer) -> None:
        failure: Exception | None = None
        try:
            probability = self._vad.judge(frame, memory)
        except Exception as raised:  # noqa: BLE001 - whatever a model raises, listening goes on
            probability, failure = math.nan, raised
        answer(probability, failure)

    def _judge(self, requests: Sequence[_Request]) -> None:
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
        """Return the `VadBatch` of the running event loop, which is made at the first call. It uses the detector that
        the first caller has passed."""
        loop = asyncio.get_running_loop()
        if loop not in self._batches:
            self._batches[loop] = VadBatch(vad)
        return self._batches[loop]
