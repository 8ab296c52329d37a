"""A bounded queue between two tasks."""

from __future__ import annotations

import asyncio

from duologue.runtime.handover_queue import HandoverQueue
from duologue.runtime.simulated_clock import run_simulated


def test_items_come_out_in_order_and_at_most_a_few_wait() -> None:
    async def scene() -> None:
        queue, put, got = HandoverQueue[int](3), list[int](), list[int]()

        async def give() -> None:
            for number in range(10):
                await queue.put(number)
                put.append(number)

        giving = asyncio.create_task(give())
        await asyncio.sleep(1)
        assert put == [0, 1, 2]
        got.append(await queue.get())
        await asyncio.sleep(1)
        assert put == [0, 1, 2, 3]
        got += [await queue.get() for _ in range(9)]
        await giving
        assert got == list(range(10))

    run_simulated(scene())


def test_get_waits_until_something_is_put() -> None:
    async def scene() -> None:
        queue = HandoverQueue[str](3)
        getting = asyncio.create_task(queue.get())
        await asyncio.sleep(1)
        assert not getting.done()
        await queue.put("late")
        assert await getting == "late"

    run_simulated(scene())


def test_a_task_that_is_cancelled_while_it_waits_takes_nothing() -> None:
    async def scene() -> None:
        queue = HandoverQueue[str](1)
        getting = asyncio.create_task(queue.get())
        await asyncio.sleep(1)
        getting.cancel()
        await asyncio.wait([getting])
        await queue.put("kept")
        putting = asyncio.create_task(queue.put("given up"))
        await asyncio.sleep(1)
        putting.cancel()
        await asyncio.wait([putting])
        assert await queue.get() == "kept"
        await queue.put("next")
        assert await queue.get() == "next"

    run_simulated(scene())
