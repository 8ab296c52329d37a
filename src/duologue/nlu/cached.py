"""Caches answers: within one second, the same message in the same scope is sent to the NLU only once.

A scope says what is possible at a turn: the intents, the slots and the agent's last question. The cached answer is used
if the transcript is unchanged, if an event is repeated, or if a second caller asks in the same turn. Callers that ask
while an answer is pending wait for the same answer. Rule: a failure is never cached. An answer that is older than a
second is never used, and is deleted when the next message arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from .understanding import MessageScope, Nlu, Prepares, Understanding

VALID_MS = 1_000
ANSWERS_MAX = 64

_Key = tuple[str, MessageScope]


@dataclass(slots=True)
class _Question:
    """A question that was sent to the NLU, and how many callers wait for the answer."""

    task: asyncio.Task[Understanding]
    waiting: int = 0


class CachedNlu:
    """Adds a cache to any other NLU. `now_ms` is the clock. An answer is valid for `valid_ms` after it arrived. An
    instance must be used in only one event loop."""

    def __init__(self, nlu: Nlu, now_ms: Callable[[], int], valid_ms: int = VALID_MS) -> None:
        self._nlu = nlu
        self._now_ms = now_ms
        self._valid_ms = valid_ms
        self._answers: dict[_Key, tuple[int, Understanding]] = {}  # the oldest first
        self._questions: dict[_Key, _Question] = {}

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        """What this message means, chosen from the intents and slots that are possible at this turn."""
        self._forget()
        key = (message, scope)
        if key in self._answers:
            return self._answers[key][1]
        if key not in self._questions:
            self._questions[key] = _Question(asyncio.create_task(self._nlu.understand(message, scope)))
        question = self._questions[key]
        question.waiting += 1
        try:
            answer = await asyncio.shield(question.task)
        finally:
            question.waiting -= 1
            self._leave(key, question)
        if answer.error is None:
            self._answers.setdefault(key, (self._now_ms(), answer))
        return answer

    def prepare(self, *scopes: MessageScope) -> None:
        """Let the NLU learn these scopes now, before a message arrives, if it has to learn scopes at all. Returns when
        they are learned. May be called in any thread."""
        if isinstance(self._nlu, Prepares):
            self._nlu.prepare(*scopes)

    @property
    def pending(self) -> int:
        """How many different questions have been sent to the NLU and aren't answered yet."""
        return len(self._questions)

    @property
    def cached_messages(self) -> tuple[str, ...]:
        """The messages whose answers are stored, the oldest first."""
        return tuple(message for message, _ in self._answers)

    def _leave(self, key: _Key, question: _Question) -> None:
        """Cancel the question to the NLU if the caller that has just stopped waiting was the last one."""
        if not question.waiting and not question.task.done():
            question.task.cancel()
        if (not question.waiting or question.task.done()) and self._questions.get(key) is question:
            del self._questions[key]

    def _forget(self) -> None:
        until_ms = self._now_ms() - self._valid_ms
        for key, (at_ms, _) in list(self._answers.items()):
            if at_ms > until_ms and len(self._answers) <= ANSWERS_MAX:
                break
            del self._answers[key]
