"""The same message in the same scope is asked once (D-15).

Partial transcripts that end as they began, a repeated event, two parts that ask at the same turn: one answer
does for a second. Those who ask while the answer is on its way wait for the same one. Rule: a failure is
not kept, and neither is anybody's message for longer than its second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from .understanding import MessageScope, Nlu, Prepares, Understanding

KEPT_MS = 1_000
ANSWERS_MAX = 64

_Key = tuple[str, MessageScope]


@dataclass(slots=True)
class _Question:
    """An answer on its way, and how many wait for it."""

    task: asyncio.Task[Understanding]
    waiting: int = 0


class CachedNlu:
    """Any NLU, asked no more often than needed. `now_ms` is the clock; an answer is good for `kept_ms` from
    when it came. Serves one event loop."""

    def __init__(self, nlu: Nlu, now_ms: Callable[[], int], kept_ms: int = KEPT_MS) -> None:
        self._nlu = nlu
        self._now_ms = now_ms
        self._kept_ms = kept_ms
        self._answers: dict[_Key, tuple[int, Understanding]] = {}  # the oldest first
        self._questions: dict[_Key, _Question] = {}

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        """What this message means, of what is open at this turn."""
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
        """Have scopes learned before a message comes, if that takes time here. Blocks; may be called in a thread."""
        if isinstance(self._nlu, Prepares):
            self._nlu.prepare(*scopes)

    def _leave(self, key: _Key, question: _Question) -> None:
        """Whoever goes last switches off the light: nobody wants this answer any more."""
        if not question.waiting and not question.task.done():
            question.task.cancel()
        if (not question.waiting or question.task.done()) and self._questions.get(key) is question:
            del self._questions[key]

    def _forget(self) -> None:
        until_ms = self._now_ms() - self._kept_ms
        for key, (at_ms, _) in list(self._answers.items()):
            if at_ms > until_ms and len(self._answers) <= ANSWERS_MAX:
                break
            del self._answers[key]
