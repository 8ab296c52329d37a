"""The few threads in which models run. All conversations share them, and the most urgent work runs first.

Speech detection must finish within the time of a frame (32 ms), a final transcript is needed soon, and a partial
transcript can wait. Among equally urgent work, the conversation that was served longest ago comes first. Rule:
transcription never takes the last thread, so speech is detected even while every other thread transcribes. While Python
code runs in these threads, the event loop waits at most about a millisecond for the interpreter's lock. Work that hangs
is abandoned, and a new thread replaces the blocked thread.
"""

from __future__ import annotations

import atexit
import enum
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cache
from typing import Any, ParamSpec, TypeVar

from duologue.fairness.counted_pools import PoolCounts, show
from duologue.fairness.owner import owner

P = ParamSpec("P")
T = TypeVar("T")
SERVED_MAX = 1_000  # conversations whose last turn in the queue is remembered


class Urgency(enum.IntEnum):
    """How urgent work is. The lowest value runs first."""

    FRAME = 0
    FINAL = 1
    REFINED = 2
    PARTIAL = 3


ABANDONED_MAX = 16  # threads that hang; more are not replaced
SWITCH_S = 0.001  # how long such a thread may keep the event loop waiting; Python's default of 5 ms delays frames


@dataclass(slots=True, eq=False)
class _QueuedWork:
    lane: ModelLane
    future: Future[Any]
    work: Callable[[], Any]
    thread: threading.Thread | None = None  # the thread in which the work runs
    is_slow: bool = False
    is_abandoned: bool = False


class ModelThreads:
    """The worker threads and their queue. The queue has no limit, but it stays short, because each caller adds work
    only when its previous work is done."""

    name = "ears"

    def __init__(self, slow_max: int | None = None) -> None:
        self._slow_max = slow_max or max(1, (os.cpu_count() or 2) - 1)  # one core is left for the event loop
        self._changed = threading.Condition()
        self._waiting: list[_QueuedWork] = []
        self._threads: list[threading.Thread] = []
        self._served: dict[str, int] = {}  # by conversation: when it was served last, as a number that increases
        self._turn = 0
        self._slow = 0
        self._abandoned = 0
        self._running = 0
        self._done = 0
        self._is_closed = False

    @property
    def counts(self) -> PoolCounts:
        """How much work runs and waits, and how much was done. Abandoned work counts as done, and none is refused."""
        with self._changed:
            return PoolCounts(self._running, len(self._waiting), self._done)

    def put(self, job: _QueuedWork) -> None:
        """Queue this work. The first call starts the threads."""
        with self._changed:
            if self._is_closed:
                raise RuntimeError("the model threads have been stopped")
            self._waiting.append(job)
            if not self._threads and not self._abandoned:
                self._start()
            self._changed.notify()

    def abandon(self, job: _QueuedWork) -> None:
        """Abandon work that hangs. Its thread can't be stopped, so another thread is started in its place."""
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)
            if job.thread is None or job.is_abandoned or job.future.done():
                return
            job.is_abandoned = True
            self._abandoned += 1
            self._note_done()
            self._slow -= job.is_slow
            self._threads.remove(job.thread)
            if self._abandoned <= ABANDONED_MAX and not self._is_closed:
                self._start_thread()

    def close(self) -> None:
        """Cancel queued work, wait for running work, and stop the threads. Called at exit, so that the interpreter
        doesn't shut down while a model runs."""
        with self._changed:
            self._is_closed = True
            dropped, self._waiting = self._waiting, []
            self._changed.notify_all()
        for job in dropped:
            job.future.cancel()
        for thread in self._threads:
            thread.join()

    def _start(self) -> None:
        sys.setswitchinterval(min(SWITCH_S, sys.getswitchinterval()))
        for _ in range(self._slow_max + 1):
            self._start_thread()
        atexit.register(self.close)

    def _start_thread(self) -> None:
        number = len(self._threads) + self._abandoned
        thread = threading.Thread(target=self._run, name=f"duologue-model-{number}", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _run(self) -> None:
        is_wanted = True
        while is_wanted and (job := self._take()) is not None:
            if job.future.set_running_or_notify_cancel():
                _do(job)
            with self._changed:
                is_wanted = not job.is_abandoned
                if is_wanted:
                    self._note_done()
                if is_wanted and job.is_slow:
                    self._slow -= 1
                    if self._waiting:  # otherwise the other thread would wake for nothing
                        self._changed.notify()
            del job  # otherwise this job stays in memory until the next one

    def _take(self) -> _QueuedWork | None:
        """Wait until there is work that may run now, and return the most urgent work. Returns None after `close`."""
        with self._changed:
            while not self._is_closed:
                ready = [
                    job for job in self._waiting if job.lane.urgency is Urgency.FRAME or self._slow < self._slow_max
                ]
                if ready:
                    job = min(ready, key=self._order)  # the oldest of the first
                    self._waiting.remove(job)
                    self._note_served(job.lane.owner)
                    job.thread = threading.current_thread()
                    job.is_slow = job.lane.urgency is not Urgency.FRAME
                    self._slow += job.is_slow
                    self._running += 1
                    return job
                self._changed.wait()
            return None

    def _note_done(self) -> None:
        self._running -= 1
        self._done += 1

    def _order(self, job: _QueuedWork) -> tuple[int, int]:
        return job.lane.urgency, self._served.get(job.lane.owner, 0)

    def _note_served(self, owner: str) -> None:
        self._turn += 1
        self._served.pop(owner, None)
        self._served[owner] = self._turn
        if len(self._served) > SERVED_MAX:
            del self._served[next(iter(self._served))]


def _do(job: _QueuedWork) -> None:
    try:
        result = job.work()
    except BaseException as failure:  # noqa: BLE001 - the caller gets it through the future
        job.future.set_exception(failure)
    else:
        job.future.set_result(result)


class ModelLane(Executor):
    """An executor for `run_in_executor`. Its urgency may change while work is queued. It belongs to the conversation of
    the task that creates it."""

    def __init__(self, threads: ModelThreads, urgency: Urgency) -> None:
        self._threads = threads
        self._newest: _QueuedWork | None = None
        self.urgency = urgency
        self.owner = owner()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        self._newest = _QueuedWork(self, future, lambda: fn(*args, **kwargs))
        self._threads.put(self._newest)
        return future

    def abandon(self) -> None:
        """Abandon the newest work of this lane, because it hangs."""
        if self._newest is not None:
            self._threads.abandon(self._newest)


@cache
def shared_threads() -> ModelThreads:
    """The threads that all ears of this process share."""
    threads = ModelThreads()
    show(threads)
    return threads
