"""Every task of a conversation, owned: it is started here and it ends with the conversation.

Rule: no task is ever left to itself; one that fails tells its owner, and one that will not end in time
is named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

CLOSE_S_MAX = 0.5  # with the closing of the session, everything ends within a second

TaskEnded: TypeAlias = Callable[[BaseException | None], None]


class Tasks:
    """The tasks of one conversation."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[Any], TaskEnded | None] = {}
        self.closing = False

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, Any], name: str, ended: TaskEnded | None = None) -> asyncio.Task[Any]:
        """Run this. `ended` is told how it went, unless we cancelled it ourselves: None for well,
        CancelledError if somebody else cancelled it."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks[task] = ended
        task.add_done_callback(self._finish)
        return task

    def cancel(self, task: asyncio.Task[Any]) -> None:
        """Stop it; its owner wants to hear nothing more of it."""
        if task in self._tasks:
            self._tasks[task] = None
            task.cancel()

    def _finish(self, task: asyncio.Task[Any]) -> None:
        ended = self._tasks.pop(task, None)
        failure = asyncio.CancelledError() if task.cancelled() else task.exception()
        if ended is not None and not self.closing:
            ended(failure)

    def crash(self) -> None:
        """For tests: cancel everything as a killed process would. No owner is notified, and nothing is awaited."""
        self.closing = True
        for task in list(self._tasks):
            task.cancel()

    async def close(self) -> list[str]:
        """Cancel everything. Returns the names of those that would not end in time."""
        self.closing = True
        mine = asyncio.current_task()
        left = [task for task in self._tasks if task is not mine]
        for task in left:
            task.cancel()
        if not left:
            return []
        _, pending = await asyncio.wait(left, timeout=CLOSE_S_MAX)
        return [task.get_name() for task in left if task in pending]
