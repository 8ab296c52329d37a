"""The asyncio tasks of a conversation. They are started here, and cancelled when the conversation ends.

Rule: a task's owner is notified when the task ends, unless the task was cancelled here. When the conversation ends, the
tasks that don't end in time are reported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from duologue.fairness.owner import context_of

CLOSE_S_MAX = 0.5  # with the closing of the session, everything ends within a second

TaskEnded: TypeAlias = Callable[[BaseException | None], None]


class Tasks:
    """The tasks of the conversation with this id. Threads that these tasks use count as threads of this conversation,
    whose number is limited."""

    def __init__(self, conversation: str = "") -> None:
        self.conversation = conversation
        self._tasks: dict[asyncio.Task[Any], TaskEnded | None] = {}
        self.closing = False

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, Any], name: str, ended: TaskEnded | None = None) -> asyncio.Task[Any]:
        """Run `work` as a task. When the task ends, `ended` is called: with None after a success, with the exception
        after a failure, or with a CancelledError if other code cancelled the task. After `cancel` or `close`, `ended`
        isn't called."""
        task = asyncio.get_running_loop().create_task(work, name=name, context=context_of(self.conversation))
        self._tasks[task] = ended
        task.add_done_callback(self._finish)
        return task

    def cancel(self, task: asyncio.Task[Any]) -> None:
        """Cancel the task without notifying its owner."""
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
        """Cancel every task except the current one. Returns the names of the tasks that did not end within
        CLOSE_S_MAX."""
        self.closing = True
        mine = asyncio.current_task()
        left = [task for task in self._tasks if task is not mine]
        for task in left:
            task.cancel()
        if not left:
            return []
        _, pending = await asyncio.wait(left, timeout=CLOSE_S_MAX)
        return [task.get_name() for task in left if task in pending]
