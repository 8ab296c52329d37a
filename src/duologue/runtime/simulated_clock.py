"""A simulated clock: an event loop in which waiting costs no time.

When nothing is ready, the clock jumps to the next thing that is due. Everything written for asyncio
runs in it unchanged, `asyncio.sleep` included, and the same program gives the same order of events
every time. Rule: nothing from outside can arrive in simulated time, so there are no sockets here;
work for threads is done on the spot.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, TypeVarTuple

from duologue.core.errors import DuologueError

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
IDLE_PASSES_MAX = 100_000  # this many rounds without a millisecond passing: something goes round


class SimulationStuck(DuologueError):
    """Nothing will ever happen again, or the same moment never ends."""


class _Jump:
    """Stands where the selector would: waiting is a jump of the clock."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        self._loop.pass_time(timeout)
        return []

    def close(self) -> None:
        pass


class SimulatedLoop(asyncio.BaseEventLoop):
    """An asyncio event loop whose clock starts at 0 and jumps."""

    _scheduled: list[asyncio.TimerHandle]

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._passes = 0
        self._selector = _Jump(self)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._now

    def pass_time(self, timeout: float | None) -> None:
        """Called when the loop would wait: jump to what is due next."""
        if timeout is None:
            raise SimulationStuck("everybody waits and nothing is due: this would wait for ever")
        if timeout > 0:
            self._now = max(self._now, self._scheduled[0].when())
            self._passes = 0
            return
        self._passes += 1
        if self._passes > IDLE_PASSES_MAX:
            raise SimulationStuck(f"{IDLE_PASSES_MAX} rounds at {self._now:.3f} s and time never passes")

    def due_next(self) -> float | None:
        """When the next thing is due that nobody has cancelled."""
        while self._scheduled and self._scheduled[0].cancelled():
            heapq.heappop(self._scheduled)._scheduled = False  # type: ignore[attr-defined]
        return self._scheduled[0].when() if self._scheduled else None

    # -- What BaseEventLoop wants from its children

    def _process_events(self, event_list: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def run_in_executor(
        self,
        executor: Any,  # noqa: ARG002 - there are no threads in simulated time
        func: Callable[[*Ts], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        """A thread takes no simulated time: the work is done here and now."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as failure:  # noqa: BLE001 - it belongs to whoever awaits the future
            future.set_exception(failure)
        return future

    async def _refuse(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        raise DuologueError(
            "there is no network in simulated time: give the agent scripted services, or use a real event loop"
        )

    getaddrinfo = create_connection = create_server = subprocess_exec = _refuse


def run_simulated(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in simulated time, like `asyncio.run`."""
    loop = SimulatedLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        end(loop)


def end(loop: SimulatedLoop) -> None:
    """Cancel what still runs and close the loop."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
