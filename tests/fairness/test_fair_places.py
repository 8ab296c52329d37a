"""Places of an event loop: owners take turns, and a task that gives up keeps no place."""

from __future__ import annotations

import asyncio

import pytest

from duologue.fairness.counted_pools import PoolCounts
from duologue.fairness.fair_places import FairPlaces
from duologue.fairness.fair_queue import QueueFull, Shares


def places(count: int = 1, each_max: int = 1, waiting_max: int = 10) -> FairPlaces:
    return FairPlaces(Shares(count, each_max, waiting_max))


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_owners_take_turns() -> None:
    async def run() -> list[str]:
        shared, order = places(), list[str]()

        async def work(owner: str) -> None:
            await shared.take(owner)
            order.append(owner)
            await settle()
            shared.give_back(owner)

        await shared.take("greedy")
        tasks = [asyncio.create_task(work(owner)) for owner in ("greedy", "greedy", "greedy", "honest", "honest")]
        await settle()
        assert shared.counts == PoolCounts(running=1, waiting=5)
        shared.give_back("greedy")
        await asyncio.gather(*tasks)
        assert shared.counts == PoolCounts(done=6)
        return order

    assert asyncio.run(run()) == ["greedy", "honest", "greedy", "honest", "greedy"]


def test_a_task_that_is_cancelled_while_it_waits_keeps_no_place() -> None:
    async def run() -> None:
        shared = places()
        await shared.take("a")
        waiting = asyncio.create_task(shared.take("b"))
        await settle()
        waiting.cancel()
        await settle()
        assert shared.waiting == 0
        shared.give_back("a")
        await asyncio.wait_for(shared.take("c"), 1)

    asyncio.run(run())


def test_a_task_that_is_cancelled_in_the_moment_it_gets_a_place_gives_it_back() -> None:
    async def run() -> None:
        shared = places()
        await shared.take("a")
        waiting = asyncio.create_task(shared.take("b"))
        await settle()
        shared.give_back("a")  # the place is granted, but the task has not run yet
        waiting.cancel()
        await settle()
        assert waiting.cancelled()
        await asyncio.wait_for(shared.take("c"), 1)

    asyncio.run(run())


def test_too_many_waiting_tasks_of_one_owner_are_refused_and_others_are_not() -> None:
    async def run() -> None:
        shared = places(waiting_max=1)
        await shared.take("a")
        waiting = asyncio.create_task(shared.take("greedy"))
        await settle()
        with pytest.raises(QueueFull, match="too much work waiting"):
            await shared.take("greedy")
        other = asyncio.create_task(shared.take("honest"))
        await settle()
        assert shared.waiting == 2
        for task in (waiting, other):
            task.cancel()
        await asyncio.gather(waiting, other, return_exceptions=True)

    asyncio.run(run())
