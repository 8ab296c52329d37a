"""One thread that owns one SQLite connection and runs scripts on it.

Scripts that wait at the same time are run in one transaction, each in its own savepoint, so that only one flush to disk
is needed. If more scripts wait than fit into a transaction, the conversations take turns. Rule: a result is returned
only after the commit, and a script that fails doesn't affect the others.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from duologue.fairness.counted_pools import PoolCounts, hide, show
from duologue.fairness.fair_inbox import FairInbox
from duologue.fairness.fair_queue import QueueFull
from duologue.fairness.owner import owner
from duologue.ports.store import StoreFailed

from .sql_operations import Script

T = TypeVar("T")
TOGETHER_MAX = 64
WAITING_MAX = 10_000
EACH_WAITING_MAX = 500  # of one conversation


@dataclass(slots=True)
class SqliteJob:
    """A job for the thread: either a `script` to run in a transaction, or a function `alone`, which gets the connection
    outside any transaction."""

    script: Callable[[], Script[Any]] | None
    alone: Callable[[sqlite3.Connection], Any] | None
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = field(default=None)


class SqliteThread:
    """A thread with one SQLite connection. The thread opens the connection with `connect`. `explain` converts an error
    from SQLite to an error that says what to do."""

    name = "store"

    def __init__(
        self, connect: Callable[[], sqlite3.Connection], explain: Callable[[sqlite3.Error], StoreFailed]
    ) -> None:
        self._connect, self._explain = connect, explain
        self._jobs: FairInbox[SqliteJob] = FairInbox(WAITING_MAX, EACH_WAITING_MAX)
        self._thread = threading.Thread(target=self._work, name="duologue-store", daemon=True)
        self._connection: sqlite3.Connection | None = None
        self.commits = 0
        self._running = 0
        self._done = 0
        self._refused = 0

    @property
    def counts(self) -> PoolCounts:
        """How many scripts run and wait, and how many were done and refused."""
        return PoolCounts(self._running, len(self._jobs), self._done, self._refused)

    async def open(self) -> None:
        """Start the thread and connect."""
        self._thread.start()
        try:
            await self.alone(lambda connection: None)  # noqa: ARG005
        except BaseException:
            self._jobs.finish()
            raise
        show(self)

    async def close(self) -> None:
        """Finish the work that is already queued, then close the connection and end the thread."""
        hide(self)
        loop = asyncio.get_running_loop()
        job = SqliteJob(None, lambda connection: connection.close(), loop, loop.create_future())
        self._jobs.finish(job)
        await job.answer

    async def script(self, make: Callable[[], Script[T]], conversation: str = "") -> T:
        """Run a script in a transaction and return its result after the commit. Until then, it waits in the queue of
        this conversation; an empty `conversation` means that of the current task."""
        answer: T = await self._submit(make, None, conversation)
        return answer

    async def alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on the connection, outside any transaction."""
        answer: T = await self._submit(None, work)
        return answer

    async def _submit(
        self, make: Callable[[], Script[Any]] | None, work: Callable[..., Any] | None, conversation: str = ""
    ) -> Any:
        loop = asyncio.get_running_loop()
        job = SqliteJob(make, work, loop, loop.create_future())
        try:
            self._jobs.put(conversation or owner(), job)
        except QueueFull as full:
            self._refused += 1
            raise StoreFailed(f"the disk can't keep up: {full}; try again later") from None
        return await job.answer

    # -- In the thread

    def _work(self) -> None:
        held: SqliteJob | None = None
        while True:
            job = held or self._jobs.get()
            if job is None:
                return
            held = None
            if job.alone:
                self._perform_alone(job)
                continue
            together = [job]
            while len(together) < TOGETHER_MAX and held is None:
                more = self._jobs.get_now()
                if more is None:
                    break
                if more.alone:
                    held = more
                else:
                    together.append(more)
            wanted = [one for one in together if not one.answer.cancelled()]
            self._running = len(wanted)
            self._perform(wanted)

    def _note_done(self, count: int) -> None:
        self._running -= count
        self._done += count

    def _perform_alone(self, job: SqliteJob) -> None:
        assert job.alone is not None
        self._running = 1
        try:
            if self._connection is None:
                self._connection = self._connect()
            job.result = job.alone(self._connection)
        except sqlite3.Error as error:
            job.error = self._explain(error)
        except Exception as error:  # noqa: BLE001 (raised in the caller)
            job.error = error
        self._note_done(1)
        _answer(job)

    def _perform(self, jobs: Sequence[SqliteJob]) -> None:
        """Run all jobs in one transaction. If SQLite fails, run each job again in its own transaction, so that only the
        job that caused the error fails. But if another process has locked the file, all jobs fail at once."""
        if not jobs:
            return
        try:
            self._transact(jobs)
        except sqlite3.Error as error:
            if len(jobs) > 1 and getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                for job in jobs:
                    self._perform([job])
                return
            for job in jobs:  # a lock affects all jobs, and each would wait for the lock again
                job.error = self._explain(error)
        self._note_done(len(jobs))
        for job in jobs:
            _answer(job)

    def _transact(self, jobs: Sequence[SqliteJob]) -> None:
        connection = self._connection
        assert connection is not None, "open() comes first"
        try:
            connection.execute("BEGIN IMMEDIATE")
            for job in jobs:
                job.error = None
                connection.execute("SAVEPOINT one")
                try:
                    assert job.script is not None
                    job.result = drive(connection, job.script())
                except sqlite3.Error:
                    raise
                except Exception as error:  # noqa: BLE001 (raised in the caller)
                    job.error = error
                    connection.execute("ROLLBACK TO one")
                connection.execute("RELEASE one")
            connection.execute("COMMIT")
            self.commits += 1
        except sqlite3.Error:
            if connection.in_transaction:  # after some errors SQLite has already rolled back
                connection.execute("ROLLBACK")
            raise


def drive(connection: sqlite3.Connection, script: Script[T]) -> T:
    """Run a script to its end, in the current transaction."""
    try:
        sql, values = next(script)
        while True:
            sql, values = script.send(connection.execute(sql, values).fetchall())
    except StopIteration as stop:
        result: T = stop.value
        return result


def _answer(job: SqliteJob) -> None:
    def deliver() -> None:
        if job.answer.cancelled():
            return
        if job.error is not None:
            job.answer.set_exception(job.error)
        else:
            job.answer.set_result(job.result)

    if not job.loop.is_closed():
        try:
            job.loop.call_soon_threadsafe(deliver)
        except RuntimeError:
            return  # the loop was closed just now: no caller waits any more
