"""The same message within a second is understood once."""

from __future__ import annotations

import asyncio

import pytest

from duologue.nlu.cached import CachedNlu
from duologue.nlu.understanding import Intent, MessageScope, Understanding


@pytest.mark.req("D-15")
def test_nlu_is_called_once_for_the_same_message_within_a_second() -> None:
    asked: list[str] = []
    clock = [0]

    class Counting:
        async def understand(self, message: str, scope: MessageScope) -> Understanding:
            asked.append(message)
            return Understanding()

    async def run() -> None:
        nlu, scope = CachedNlu(Counting(), lambda: clock[0]), MessageScope((Intent("a", ("a",)),))
        for now in (0, 999, 2_500):
            clock[0] = now
            await nlu.understand("hello", scope)

    asyncio.run(run())
    assert asked == ["hello", "hello"]
