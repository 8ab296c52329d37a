"""What was heard and not yet told.

Rule: a partial text that nobody has taken gives way to a newer one; nothing else is ever left out.
"""

from __future__ import annotations

import asyncio
from collections import deque

from duologue.ports.ears import Heard, Partial


class ReportQueue:
    """From those who hear to the one who tells. Ends when all of them are done."""

    def __init__(self, writers: int) -> None:
        self._waiting: deque[Heard] = deque()
        self._writers = writers
        self._failure: BaseException | None = None
        self._changed = asyncio.Event()

    def put(self, heard: Heard) -> None:
        last = self._waiting[-1] if self._waiting else None
        if isinstance(heard, Partial) and isinstance(last, Partial) and heard.utterance == last.utterance:
            self._waiting.pop()
        self._waiting.append(heard)
        self._changed.set()

    def fail(self, failure: BaseException) -> None:
        """Somebody has failed: what was heard before is told, then this is raised."""
        self._failure = self._failure or failure
        self._changed.set()

    def close(self, task: asyncio.Future[None]) -> None:
        """One of the writers is done, or has failed."""
        self._writers -= 1
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.fail(failure)
        self._changed.set()

    async def get(self) -> Heard | None:
        """The next, or None at the end."""
        while not self._waiting:
            if self._failure is not None:
                raise self._failure
            if self._writers == 0:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()
