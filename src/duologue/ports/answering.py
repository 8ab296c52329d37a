"""Tells whether the current code is a part of making an answer: for example a brain, or an action of a flow.

An answer ends only after such code has ended. So such code must not wait until something else is said: it would wait
for ever. It can start a task of its own, which isn't a part of the answer, and which may wait.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

# The task that makes an answer; None if no answer is made here. A task that was only started here has another value
# than itself.
_MAKER: ContextVar[asyncio.Task[Any] | None] = ContextVar("maker_of_answer", default=None)


def begin_answering() -> None:
    """From now on, the current task makes an answer."""
    _MAKER.set(asyncio.current_task())


def go_on_answering() -> None:
    """Count the current task as making an answer. Call this at the beginning of a task for which an answering task
    waits."""
    if _MAKER.get() is not None:
        begin_answering()


def work_beside_answers() -> None:
    """From now on, the current task isn't making an answer, even if the task was started by code that is."""
    _MAKER.set(None)


def is_answering() -> bool:
    """Does the current task make an answer?"""
    return _MAKER.get() is not None and _MAKER.get() is asyncio.current_task()
