"""Pools of threads for work that blocks, each with a fair queue by conversation.

Each kind of work has a separate pool, so a tool that blocks doesn't delay the NLU or the ears. Rule: one conversation
never has more than its share of a pool, and work that doesn't fit is refused with QueueFull. A thread ends after a
while without work, and threads don't keep the process alive.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeVar

from .counted_pools import PoolCounts, show
from .fair_queue import FairQueue, Shares
from .owner import owner

P = ParamSpec("P")
T = TypeVar("T")
IDLE_S_MAX = 10.0
CLOSE_S_MAX = 2.0
SWITCH_S = 0.001  # how long such a thread may keep the event loop waiting; Python's default of 5 ms delays frames


class _Work(NamedTuple):
    future: Future[Any]
    run: Callable[[], Any]


class FairThreads(Executor):
    """One pool of threads."""

    def __init__(self, name: str, shares: Shares) -> None:
        self.name = name
        self._queue: FairQueue[_Work] = FairQueue(shares)
        self._changed = threading.Condition()
        self._threads = 0
        self._is_used = False
        self._idle = 0
        self._done = 0
        self._refused = 0

    @property
    def counts(self) -> PoolCounts:
        """How much work runs and waits, and how much was done and refused."""
        with self._changed:
            return PoolCounts(self._queue.running, self._queue.waiting, self._done, self._refused)

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the work in a thread for the current conversation. Raises QueueFull if too much work of that conversation
        is waiting."""
        return await self.run_for(owner(), partial(work, *args, **kwargs))

    async def run_for(self, name: str, work: Callable[[], T]) -> T:
        """Do the same as `run`, but for the owner `name`."""
        call: Callable[[], T] = partial(contextvars.copy_context().run, work)
        return await asyncio.get_running_loop().run_in_executor(_Lane(self, name), call)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self.submit_for(owner(), partial(fn, *args, **kwargs))

    def submit_for(self, name: str, work: Callable[[], T]) -> Future[T]:
        """Queue a piece of work for the owner `name`. Raises QueueFull if too much work of this owner is waiting."""
        future: Future[T] = Future()
        with self._changed:
            try:
                self._queue.put(name, _Work(future, work))
            except Exception:
                self._refused += 1
                raise
            self._changed.notify()
            # An idle thread that was woken is counted until it runs, so compare with all that waits.
            if self._queue.waiting > self._idle and self._threads < self._queue.shares.places:
                self._start_thread()
        return future

    def close(self) -> None:
        """Cancel waiting work, and wait a moment for running work to end. Called at exit, because a model must not run
        while the interpreter shuts down. If work hangs, the exit isn't delayed further."""
        with self._changed:
            for work in self._queue.clear():
                work.future.cancel()
            self._changed.wait_for(lambda: not self._queue.running, CLOSE_S_MAX)

    def _start_thread(self) -> None:
        if not self._is_used:
            self._is_used = True
            atexit.register(self.close)
            sys.setswitchinterval(min(SWITCH_S, sys.getswitchinterval()))
        self._threads += 1
        threading.Thread(target=self._work, name=f"duologue-{self.name}", daemon=True).start()

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            name, (future, run) = taken
            tell = _do(future, run) if future.set_running_or_notify_cancel() else None
            with self._changed:
                self._queue.done(name)
                self._done += 1
                self._changed.notify_all()
            if tell is not None:  # only now, so that the place is already free when the caller gets the result
                tell()
            del taken, future, run, tell  # otherwise they stay in memory until the next work

    def _take(self) -> tuple[str, _Work] | None:
        """Wait for work that may run now, and return its owner and the work. Returns None if there was no work for a
        while."""
        with self._changed:
            while (taken := self._queue.take()) is None:
                self._idle += 1
                is_woken = self._changed.wait(IDLE_S_MAX)
                self._idle -= 1
                if not is_woken and not self._queue.waiting:
                    self._threads -= 1
                    return None
            return taken


class _Lane(Executor):
    """An executor that runs the work of one owner in the pool."""

    def __init__(self, threads: FairThreads, name: str) -> None:
        self._threads = threads
        self._name = name

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self._threads.submit_for(self._name, partial(fn, *args, **kwargs))


def _do(future: Future[Any], run: Callable[[], Any]) -> Callable[[], None]:
    """Do the work. Returns a function that sets the result or the exception of `future`."""
    try:
        return partial(future.set_result, run())
    except BaseException as failure:  # noqa: BLE001 - the caller gets it through the future
        return partial(future.set_exception, failure)


TOOLS = FairThreads("tools", Shares(places=128, each_max=4, waiting_max=16))
BRAINS = FairThreads("brains", Shares(places=64, each_max=2, waiting_max=4))
NLU = FairThreads("nlu", Shares(places=4, each_max=1, waiting_max=8))
PREPARATION = FairThreads("preparation", Shares(places=2, each_max=1, waiting_max=2))  # of NLU, for the next message
REPLAYS = FairThreads("replays", Shares(places=1, each_max=1, waiting_max=4))
AGENTS = FairThreads("agents", Shares(places=64, each_max=1, waiting_max=1))  # functions that make the agent of a call
ENCODING = FairThreads("encoding", Shares(places=1, each_max=1, waiting_max=4))  # of recordings
show(TOOLS, BRAINS, NLU, PREPARATION, REPLAYS, AGENTS, ENCODING)
