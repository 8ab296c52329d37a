"""A simulated clock for code that uses sockets: servers and clients of one event loop, on this computer.

When no task is ready and no socket has data, the clock jumps to the next timer, so waiting costs almost no time.
Computing takes no simulated time at all, so a test gives the same result on a slow computer. While a thread works, the
clock runs slowly, because the thread may wait for a timer of this loop.

Rule: servers and clients that talk to each other must run in the same event loop. The clock doesn't wait for another
process, or for a thread with an event loop of its own. For code without sockets use `duologue.runtime.simulated_clock`,
which is exact.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
ARRIVAL_S = 0.001  # real time in which what was just sent arrives at another socket of this machine
SPEED_MAX = 100  # a jump takes at least this fraction of its time, so that events from outside have a chance to arrive
THREAD_POLL_S = 0.02  # real time after which the timers are looked at again while a thread works
THREAD_SPEED = 0.1  # of real time while a thread works: on a busy machine a short task may take a second


class _JumpingSelector(selectors.BaseSelector):
    """A selector that makes the clock jump instead of waiting."""

    def __init__(self) -> None:
        self._sockets = selectors.DefaultSelector()
        self.now_s = 0.0
        self.threads = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return the sockets that are ready. If no socket is ready, let the clock jump by `timeout`, which is in
        simulated seconds."""
        if timeout is None or timeout <= 0:
            return self._sockets.select(timeout)
        if self.threads:
            return self._wait(timeout)
        ready = self._sockets.select(0) or self._sockets.select(max(ARRIVAL_S, timeout / SPEED_MAX))
        if not ready:
            self.now_s += timeout
        return ready

    def _wait(self, timeout: float) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait in real time while a thread works. Meanwhile, the clock runs slowly instead of jumping."""
        began_s = time.monotonic()
        ready = self._sockets.select(min(timeout / THREAD_SPEED, THREAD_POLL_S))
        self.now_s += min((time.monotonic() - began_s) * THREAD_SPEED, timeout)
        return ready

    # -- The other operations are those of the real selector

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._sockets.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._sockets.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._sockets.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._sockets.get_map()

    def close(self) -> None:
        self._sockets.close()


class JumpingLoop(asyncio.SelectorEventLoop):
    """An asyncio event loop with sockets and threads, whose clock starts at 0 and jumps."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._jumping.now_s

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Run the work in a thread, as any loop does. Until it is done, the clock doesn't jump."""
        self._jumping.threads += 1
        work = super().run_in_executor(executor, func, *args)
        work.add_done_callback(self._note_thread_done)
        return work

    def _note_thread_done(self, _: asyncio.Future[Any]) -> None:
        self._jumping.threads -= 1


def run_jumping(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine like `asyncio.run`, on a clock that jumps, and return its result."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(main)
