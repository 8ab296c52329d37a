"""The panel's files are sent at a bounded pace, and addresses take turns."""

from __future__ import annotations

import asyncio

from duologue.fairness.fair_queue import QueueFull
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.file_pace import EACH_WAITING_MAX, PAUSE_S, TOGETHER_MAX, FilePace

PAGE = 66  # files


async def waits_s(pace: FilePace, address: str, count: int) -> list[float]:
    """How long each of this many files waits that an address asks for at once."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()

    async def one() -> float:
        await pace.wait(address)
        return loop.time() - began_s

    return sorted(await asyncio.gather(*(one() for _ in range(count))))


def test_the_first_files_are_sent_at_once_and_a_page_is_there_soon() -> None:
    async def scene() -> None:
        waited = await waits_s(FilePace(), "a", PAGE)
        assert waited[: TOGETHER_MAX // 2] == [0.0] * (TOGETHER_MAX // 2)
        assert waited[-1] <= 0.2

    run_simulated(scene())


def test_an_address_that_asks_for_many_files_delays_mainly_itself() -> None:
    async def scene() -> None:
        pace = FilePace()
        greedy = asyncio.ensure_future(waits_s(pace, "greedy", EACH_WAITING_MAX))
        await asyncio.sleep(0)
        honest = await waits_s(pace, "honest", PAGE)
        assert honest[-1] <= 0.3
        assert not greedy.done()
        waited = await greedy
        assert waited[-1] >= EACH_WAITING_MAX / TOGETHER_MAX * PAUSE_S * 0.9

    run_simulated(scene())


def test_too_many_waiting_files_of_one_address_are_refused() -> None:
    async def scene() -> None:
        pace = FilePace()
        waiting = [asyncio.ensure_future(pace.wait("a")) for _ in range(2 * EACH_WAITING_MAX)]
        await asyncio.gather(*waiting, return_exceptions=True)
        assert any(isinstance(one.exception(), QueueFull) for one in waiting)
        await pace.wait("b")

    run_simulated(scene())
