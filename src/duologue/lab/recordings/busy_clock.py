"""Simulated time in which models take time: each run of a model lasts as long as its CPU time.

Everything else takes no time, as in every simulation. At most SLOW_MAX slow models run at the same time. Further work
waits, and the most urgent work starts first. Rule: a result never arrives earlier than this computer could compute it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar, TypeVarTuple

from duologue.ears.model_threads import ModelLane, Urgency
from duologue.runtime.simulated_clock import SimulatedLoop, end

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
SLOW_MAX = 1  # slow models (STT, end of turn) that run at the same time: they get one of two cores


@dataclass(slots=True, eq=False)
class _Work:
    lane: ModelLane
    future: asyncio.Future[Any]
    do: Callable[[], Any]


class TimedLoop(SimulatedLoop):
    """An event loop in simulated time, in which the work of model threads takes time."""

    def __init__(self, slow_max: int = SLOW_MAX) -> None:
        super().__init__()
        self._slow_max = slow_max
        self._slow = 0
        self._waiting: list[_Work] = []
        self.worked_s = 0.0

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        if not isinstance(executor, ModelLane):
            return super().run_in_executor(executor, func, *args)
        work = _Work(executor, self.create_future(), lambda: func(*args))
        self._waiting.append(work)
        self._go_on()
        return work.future

    def _go_on(self) -> None:
        """Start all waiting work that may run now, the most urgent first."""
        self._waiting = [work for work in self._waiting if not work.future.cancelled()]
        for work in sorted(self._waiting, key=lambda waiting: waiting.lane.urgency):
            is_slow = work.lane.urgency is not Urgency.FRAME
            if not is_slow or self._slow < self._slow_max:
                self._waiting.remove(work)
                self._slow += is_slow
                self._do(work, is_slow)

    def _do(self, work: _Work, is_slow: bool) -> None:
        began = time.thread_time()
        result: Any = None
        failure: Exception | None = None
        try:
            result = work.do()
        except Exception as problem:  # noqa: BLE001 - the future raises it in its caller
            failure = problem
        took_s = time.thread_time() - began
        self.worked_s += took_s
        self.call_later(took_s, self._done, work, is_slow, result, failure)

    def _done(self, work: _Work, is_slow: bool, result: Any, failure: Exception | None) -> None:
        if not work.future.done():
            if failure is not None:
                work.future.set_exception(failure)
            else:
                work.future.set_result(result)
        self._slow -= is_slow
        self._go_on()


def run_timed(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a new `TimedLoop` and return its result, as `asyncio.run` does."""
    loop = TimedLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        end(loop)
