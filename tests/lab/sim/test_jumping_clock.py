"""The clock that jumps while sockets are used."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from duologue.lab.sim.jumping_clock import run_jumping
from tests.limits import WAIT_S

HOUR_S = 3600.0


def now_s() -> float:
    return asyncio.get_running_loop().time()


def test_waiting_takes_simulated_time_only() -> None:
    async def wait() -> float:
        await asyncio.sleep(60)
        return now_s()

    began_s = time.monotonic()
    assert run_jumping(wait()) == pytest.approx(60)
    assert time.monotonic() - began_s < 60


def test_computing_takes_no_simulated_time() -> None:
    async def compute() -> float:
        sum(range(1_000_000))
        await asyncio.sleep(0)
        return now_s()

    assert run_jumping(compute()) == 0


def test_what_is_sent_arrives_before_the_clock_jumps() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(100):
            writer.write(await reader.readline())
        writer.close()

    async def talk() -> float:
        async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            hour = asyncio.ensure_future(asyncio.sleep(HOUR_S))
            for number in range(100):
                writer.write(b"%d\n" % number)
                assert await reader.readline() == b"%d\n" % number
            writer.close()
            hour.cancel()
            return now_s()

    assert run_jumping(talk()) == 0


def test_a_thread_is_waited_for() -> None:
    release = threading.Event()

    async def work() -> float:
        hour = asyncio.ensure_future(asyncio.sleep(HOUR_S))
        working = asyncio.ensure_future(asyncio.to_thread(release.wait, WAIT_S))
        await asyncio.sleep(0.01)  # passes slowly, because the thread works
        assert not working.done()
        release.set()
        assert await working
        hour.cancel()
        return now_s()

    assert run_jumping(work()) < HOUR_S


def test_a_thread_may_wait_for_a_timer() -> None:
    async def work() -> bool:
        rung = threading.Event()
        asyncio.get_running_loop().call_later(0.05, rung.set)
        return await asyncio.to_thread(rung.wait, WAIT_S)

    assert run_jumping(work())
