"""A simulated clock: an event loop in which waiting costs no time.

When no task is ready to run, the clock jumps to the next timer. Code written for asyncio runs unchanged, including
`asyncio.sleep`, and the same program gives the same order of events every time. Rule: there are no sockets in
simulated time, and work for other threads runs immediately in this thread.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, TypeVarTuple
from unittest import mock

from duologue.core.errors import DuologueError

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
IDLE_PASSES_MAX = 100_000  # after this many rounds in which no time passes, a task must be looping


class SimulationStuck(DuologueError):
    """The simulation can't go on: every task waits and no timer is set, or a task loops without letting time pass."""


class NetworkInSimulation(DuologueError):
    """Code has tried to use a network, which simulated time doesn't have."""


class _Jump:
    """Replaces the part of the event loop that waits (the selector). Instead of waiting for the next timer, it lets the
    clock jump to that timer."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        self._loop.pass_time(timeout)
        return []

    def close(self) -> None:
        pass


class SimulatedLoop(asyncio.BaseEventLoop):
    """An asyncio event loop whose clock starts at 0 and jumps. Code that tries to use a network gets the exception
    NetworkInSimulation. A conversation would treat that as the failure of a service and hide the reason. With
    `raises_at_network`, therefore, `run_checked` itself raises the exception at once."""

    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, raises_at_network: bool = False) -> None:
        super().__init__()
        self._raises_at_network = raises_at_network
        self._refused: NetworkInSimulation | None = None
        self._main: asyncio.Task[Any] | None = None
        self._now = 0.0
        self._passes = 0
        self._selector = _Jump(self)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._now

    def pass_time(self, timeout: float | None) -> None:
        """Jump to the next timer. The event loop calls this instead of waiting for `timeout` seconds. Raises
        SimulationStuck if no timer is set, or if a task loops without waiting."""
        if timeout is None:
            raise SimulationStuck("every task waits and no timer is set: this would wait forever")
        if timeout > 0:
            self._now = max(self._now, self._scheduled[0].when())
            self._passes = 0
            return
        self._passes += 1
        if self._passes > IDLE_PASSES_MAX:
            raise SimulationStuck(
                f"no time passed in {IDLE_PASSES_MAX} rounds at {self._now:.3f} s: a task loops without waiting"
            )

    # -- What BaseEventLoop requires

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
        """Run the work immediately, because a thread takes no simulated time."""
        future: asyncio.Future[T] = self.create_future()
        try:
            with self._without_sockets():
                future.set_result(func(*args))
        except Exception as failure:  # noqa: BLE001 - raised where the future is awaited
            future.set_exception(failure)
        return future

    # -- There is no network

    async def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise self._no_network(args, kwargs)

    def add_reader(self, fd: Any, callback: Callable[[*Ts], Any], *args: *Ts) -> None:  # noqa: ARG002
        raise self._no_network((), {})

    def add_writer(self, fd: Any, callback: Callable[[*Ts], Any], *args: *Ts) -> None:  # noqa: ARG002
        raise self._no_network((), {})

    def _no_network(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> NetworkInSimulation:
        task = asyncio.current_task(self)
        named = f"{task.get_name()} wants " if task is not None and not task.get_name().startswith("Task-") else ""
        place = kwargs.get("host") or next((part for part in args if isinstance(part, str | tuple)), "")
        shown = f" ({place[0] if isinstance(place, tuple) else place})" if place else ""
        problem = NetworkInSimulation(
            f"{named}a network{shown}: there is no network in simulated time; use LiveCall(agent), which runs on the "
            "real clock, or give the agent scripted services"
        )
        if self._raises_at_network:
            self._refused = problem
            if self._main is not None:
                self._main.cancel()
        return problem

    def run_checked(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result. With `raises_at_network`, raises NetworkInSimulation as soon as any
        code tries to use a network."""
        self._main = main = self.create_task(work)
        try:
            self.run_until_complete(main)
        except asyncio.CancelledError:
            if self._refused is None:
                raise
        finally:
            self._main = None
        if self._refused is not None:
            refused, self._refused = self._refused, None
            raise refused
        return main.result()

    @contextmanager
    def _without_sockets(self) -> Iterator[None]:
        """Within this block, refuse the network connections of plain sockets too, because these don't go through the
        event loop."""
        if not self._raises_at_network:
            yield
            return
        connect = socket.socket.connect

        def refuse(made: socket.socket, address: Any) -> None:
            if made.family not in (socket.AF_INET, socket.AF_INET6):
                connect(made, address)
                return
            raise self._no_network((address,), {})

        with mock.patch.object(socket.socket, "connect", refuse):
            yield

    getaddrinfo = create_connection = create_server = subprocess_exec = subprocess_shell = _refuse
    create_datagram_endpoint = create_unix_connection = sock_connect = start_tls = getnameinfo = _refuse


def run_simulated(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in simulated time, like `asyncio.run`, and return its result."""
    loop = SimulatedLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        end(loop)


def end(loop: SimulatedLoop) -> None:
    """Cancel every task and close the loop."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
