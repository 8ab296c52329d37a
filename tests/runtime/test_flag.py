"""A flag that tasks can wait for."""

from __future__ import annotations

import asyncio

from duologue.runtime.flag import Flag
from duologue.runtime.simulated_clock import run_simulated


def test_a_flag_that_is_on_is_not_waited_for() -> None:
    async def scene() -> None:
        flag = Flag()
        assert not flag.is_set()
        flag.set()
        assert flag.is_set()
        waiting = flag.wait()
        try:
            waiting.send(None)
        except StopIteration:
            return
        raise AssertionError("it waits")

    run_simulated(scene())


def test_all_that_wait_continue_even_if_it_is_turned_off_at_once() -> None:
    async def scene() -> None:
        flag, done = Flag(), list[int]()

        async def wait(number: int) -> None:
            await flag.wait()
            done.append(number)

        tasks = [asyncio.create_task(wait(number)) for number in range(3)]
        await asyncio.sleep(1)
        assert done == []
        flag.set()
        flag.clear()
        await asyncio.gather(*tasks)
        assert done == [0, 1, 2]
        late = asyncio.create_task(wait(3))
        await asyncio.sleep(1)
        assert not late.done()
        flag.set()
        await late

    run_simulated(scene())


def test_a_task_that_is_cancelled_does_not_wait_any_more() -> None:
    async def scene() -> None:
        flag = Flag()
        one, other = (asyncio.create_task(flag.wait()) for _ in range(2))
        await asyncio.sleep(1)
        one.cancel()
        await asyncio.wait([one])
        assert one.cancelled()
        flag.set()
        await other

    run_simulated(scene())
