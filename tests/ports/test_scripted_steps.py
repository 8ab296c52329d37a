"""Steps of scripted services: a wait takes its time, a failure has its class, a hang never returns."""

from __future__ import annotations

import asyncio
import random

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError
from duologue.ports.scripted_steps import Delay, Fail, Hang, take
from duologue.testing import run_simulated


async def time_of(step: Delay, seed: int) -> int:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await take(step, random.Random(seed))
    return round(1000 * (loop.time() - began))


def test_a_delay_takes_its_time() -> None:
    assert run_simulated(time_of(Delay(120), 1)) == 120


def test_jitter_adds_at_most_its_amount_and_depends_on_the_seed_alone() -> None:
    times = [run_simulated(time_of(Delay(100, jitter_ms=50), seed)) for seed in range(20)]
    assert times == [run_simulated(time_of(Delay(100, jitter_ms=50), seed)) for seed in range(20)]
    assert all(100 <= time <= 150 for time in times)
    assert len(set(times)) > 5


def test_a_failure_raises_its_class_and_message() -> None:
    with pytest.raises(ServiceError, match="too busy") as raised:
        run_simulated(take(Fail(ErrorClass.RATE_LIMIT, "too busy"), random.Random(1)))
    assert raised.value.error is ErrorClass.RATE_LIMIT


def test_a_hang_does_not_return_by_itself() -> None:
    async def wait() -> None:
        async with asyncio.timeout(3_600):
            await take(Hang(), random.Random(1))

    with pytest.raises(TimeoutError):
        run_simulated(wait())
