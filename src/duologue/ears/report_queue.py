"""The queue of reports of what was heard. The tasks of a stream write to it, and `listen` reads from it.

Rule: a partial transcript at the end of the queue is replaced by a newer one of the same utterance. Nothing else is
ever dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque

from duologue.ports.ears import Heard, Partial


class ReportQueue:
    """A queue with several writers and one reader. It ends when all writers have called `close`."""

    def __init__(self, writers: int) -> None:
        self._waiting: deque[Heard] = deque()
        self._writers = writers
        self._failure: BaseException | None = None
        self._reader: asyncio.Future[None] | None = None

    def put(self, heard: Heard) -> None:
        """Add this report to the queue. Never waits."""
        if isinstance(heard, Partial) and self._waiting:
            last = self._waiting[-1]
            if isinstance(last, Partial) and heard.utterance == last.utterance:
                self._waiting.pop()
        self._waiting.append(heard)
        self._wake()

    def fail(self, failure: BaseException) -> None:
        """Record that a writer has failed. The reader gets all queued reports, then this exception."""
        self._failure = self._failure or failure
        self._wake()

    def close(self, task: asyncio.Future[None]) -> None:
        """Record that a writer's task has ended, with or without an exception."""
        self._writers -= 1
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.fail(failure)
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def get(self) -> Heard | None:
        """Wait for the next report, remove it from the queue and return it. Returns None when all writers are done and
        the queue is empty. If a writer failed, its exception is raised after the last report."""
        while not self._waiting:
            if self._failure is not None:
                raise self._failure
            if self._writers == 0:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        return self._waiting.popleft()
