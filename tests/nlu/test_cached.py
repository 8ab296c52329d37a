"""The cache: one question for the same message, and nothing kept that shouldn't be."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from duologue.core.leaves import ErrorClass
from duologue.nlu import CachedNlu, Guess, Intent, MessageScope, Understanding
from duologue.nlu.cached import ANSWERS_MAX
from duologue.runtime.simulated_clock import run_simulated

T = TypeVar("T")
OPEN = MessageScope((Intent("menu"),))
OTHER = MessageScope((Intent("menu"), Intent("bill")))


class Recording:
    """An NLU that records its messages and takes some time."""

    def __init__(self, takes_ms: int = 0, error: ErrorClass | None = None) -> None:
        self.messages: list[str] = []
        self.cancelled = 0
        self._takes_ms = takes_ms
        self._error = error

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        self.messages.append(message)
        try:
            await asyncio.sleep(self._takes_ms / 1000)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return Understanding((Guess("menu", 0.9),), True, 0.9, error=self._error)


def now_ms() -> int:
    return round(asyncio.get_running_loop().time() * 1000)


def run(main: Coroutine[Any, Any, T]) -> T:
    return run_simulated(main)


@pytest.mark.req("D-15")
def test_the_same_message_within_a_second_is_sent_once() -> None:
    nlu = Recording()

    async def main() -> None:
        cached = CachedNlu(nlu, now_ms)
        first = await cached.understand("soup?", OPEN)
        await asyncio.sleep(0.999)
        assert await cached.understand("soup?", OPEN) is first
        await asyncio.sleep(0.001)
        await cached.understand("soup?", OPEN)

    run(main())
    assert nlu.messages == ["soup?", "soup?"]


@pytest.mark.req("D-15")
def test_another_message_or_another_scope_is_another_question() -> None:
    nlu = Recording()

    async def main() -> None:
        cached = CachedNlu(nlu, now_ms)
        for message, scope in (("a", OPEN), ("b", OPEN), ("a", OTHER), ("a", MessageScope(OPEN.intents)), ("a ", OPEN)):
            await cached.understand(message, scope)

    run(main())
    assert nlu.messages == ["a", "b", "a", "a "]


def test_callers_at_the_same_time_wait_for_the_same_answer() -> None:
    nlu = Recording(takes_ms=500)

    async def main() -> None:
        cached = CachedNlu(nlu, now_ms)
        answers = await asyncio.gather(*(cached.understand("soup?", OPEN) for _ in range(5)))
        assert len({id(answer) for answer in answers}) == 1
        await asyncio.sleep(0.9)  # the second begins with the answer
        await cached.understand("soup?", OPEN)

    run(main())
    assert nlu.messages == ["soup?"]


def test_a_failure_is_not_cached() -> None:
    nlu = Recording(error=ErrorClass.RATE_LIMIT)

    async def main() -> None:
        cached = CachedNlu(nlu, now_ms)
        assert (await cached.understand("soup?", OPEN)).error is ErrorClass.RATE_LIMIT
        await cached.understand("soup?", OPEN)

    run(main())
    assert nlu.messages == ["soup?", "soup?"]


def test_a_cancelled_caller_does_not_cancel_the_others() -> None:
    nlu = Recording(takes_ms=500)

    async def main() -> None:
        cached = CachedNlu(nlu, now_ms)
        first, second = (asyncio.create_task(cached.understand("soup?", OPEN)) for _ in range(2))
        await asyncio.sleep(0.1)
        first.cancel()
        assert (await second).intent == "menu"

    run(main())
    assert (nlu.messages, nlu.cancelled) == (["soup?"], 0)


def test_when_all_callers_cancel_the_question_is_cancelled_too() -> None:
    nlu = Recording(takes_ms=500)

    async def main() -> None:
        cached = CachedNlu(nlu, now_ms)
        tasks = [asyncio.create_task(cached.understand("soup?", OPEN)) for _ in range(2)]
        await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (await cached.understand("soup?", OPEN)).intent == "menu"

    run(main())
    assert (nlu.messages, nlu.cancelled) == (["soup?", "soup?"], 1)


def test_an_exception_of_the_nlu_reaches_the_caller() -> None:
    class Broken:
        async def understand(self, message: str, scope: MessageScope) -> Understanding:
            raise ZeroDivisionError

    async def main() -> None:
        cached = CachedNlu(Broken(), now_ms)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await cached.understand("soup?", OPEN)
        assert cached.pending == 0

    run(main())


def test_answers_are_forgotten_by_time_and_by_number() -> None:
    async def main() -> None:
        cached = CachedNlu(Recording(), now_ms)
        for number in range(3 * ANSWERS_MAX):
            await cached.understand(f"soup {number}", OPEN)
        assert len(cached.cached_messages) <= ANSWERS_MAX + 1
        await asyncio.sleep(1)
        await cached.understand("last", OPEN)
        assert cached.cached_messages == ("last",)

    run(main())
