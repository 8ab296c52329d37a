"""The simulated clock: time that jumps, the same order every time, and no waiting for ever."""

from __future__ import annotations

import asyncio
import socket

import pytest

from duologue.core.errors import DuologueError
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import NetworkInSimulation, SimulationStuck, run_simulated
from duologue.testing import Call as PhoneCall
from duologue.testing import ScriptedBrain


def test_a_day_passes_in_no_time() -> None:
    async def scene() -> float:
        await asyncio.sleep(86_400)
        return asyncio.get_running_loop().time()

    assert run_simulated(scene()) == 86_400


def test_things_that_are_due_happen_in_their_order() -> None:
    seen: list[tuple[str, float]] = []

    async def after(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, asyncio.get_running_loop().time()))

    async def scene() -> None:
        await asyncio.gather(after("c", 3), after("a", 1), after("b", 2), after("a2", 1))

    run_simulated(scene())
    assert seen == [("a", 1), ("a2", 1), ("b", 2), ("c", 3)]


def test_waiting_for_what_never_comes_is_an_error_and_no_hang() -> None:
    async def scene() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(SimulationStuck, match="wait forever"):
        run_simulated(scene())


def test_a_task_that_never_waits_is_an_error_and_not_a_hang() -> None:
    async def scene() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(SimulationStuck, match="loops without waiting"):
        run_simulated(scene())


def test_threads_take_no_time_and_their_failures_reach_the_waiting_task() -> None:
    async def scene() -> None:
        assert await asyncio.to_thread(lambda: 5) == 5
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        assert asyncio.get_running_loop().time() == 0

    run_simulated(scene())


def test_there_is_no_network() -> None:
    async def scene() -> None:
        with pytest.raises(DuologueError, match="no network"):
            await asyncio.open_connection("localhost", 1)

    run_simulated(scene())


def test_a_cancelled_alarm_does_not_move_the_clock() -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(100, lambda: None).cancel()
        await asyncio.sleep(1)
        assert loop.time() == 1
        await asyncio.sleep(0.5)
        assert loop.time() == 1.5

    run_simulated(scene())


def test_timeouts_expire_in_simulated_time() -> None:
    async def scene() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.get_running_loop().create_future()
        return asyncio.get_running_loop().time()

    assert run_simulated(scene()) == 30


def test_the_same_call_takes_the_same_steps_every_time() -> None:
    def once() -> list[str]:
        brain = ScriptedBrain(["Here is a longer answer for you.", "Fine."], first_ms=200, token_ms=50, jitter_ms=90)
        with PhoneCall(Agent(brain)) as call:
            call.user("hello there").interrupts("no wait stop").settles()
            return [repr(record.event) for record in call.records]

    assert once() == once()


def test_a_brain_that_wants_a_network_ends_the_test_at_once_and_is_named() -> None:
    async def brain(_: object) -> str:
        await asyncio.open_connection("api.example.com", 443)
        return "never"

    wanted = r"reply 1 wants a network \(api\.example\.com\).*LiveCall"
    with PhoneCall(brain) as call, pytest.raises(NetworkInSimulation, match=wanted):
        call.user("hello")


def test_a_plain_function_that_opens_a_socket_ends_the_test_at_once_too() -> None:
    def brain(_: object) -> str:
        socket.create_connection(("127.0.0.1", 9))
        return "never"

    connect = socket.socket.connect
    with PhoneCall(brain) as call, pytest.raises(NetworkInSimulation, match=r"a network \(127\.0\.0\.1\)"):
        call.user("hello")
    assert socket.socket.connect is connect


def test_without_a_call_the_network_is_an_error_that_the_program_may_handle() -> None:
    async def scene() -> str:
        try:
            await asyncio.get_running_loop().create_connection(asyncio.Protocol, "example.com", 80)
        except NetworkInSimulation:
            return "handled"
        return "connected"

    assert run_simulated(scene()) == "handled"
