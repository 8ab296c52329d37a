"""The first service that answers wins, and all others are closed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.failover.first_part import first_part
from duologue.failover.health import HealthRule
from duologue.failover.services import Services
from duologue.ports import Request, ServiceError
from duologue.runtime.simulated_clock import run_simulated
from tests.failover.failing_services import Brain

ASKED = Request(1, "Hello.")


def race(*brains: Brain, after_ms: int | None = None) -> tuple[Any, float]:
    async def work() -> tuple[Any, float]:
        services = Services("brain", brains, HealthRule(), None)
        won = await first_part(services, set(), lambda brain: brain.reply(ASKED), after_ms)
        return won, asyncio.get_running_loop().time()

    return run_simulated(work())


def test_without_after_ms_only_the_first_is_asked() -> None:
    first, second = Brain("a", wait_ms=5_000), Brain("b")
    won, _ = race(first, second)
    assert (won.index, won.parts) == (0, ("a",))
    assert not second.requests


def test_a_slow_service_is_hedged_and_the_loser_is_closed() -> None:
    first, second = Brain("a", wait_ms=5_000), Brain("b", wait_ms=100)
    won, took_s = race(first, second, after_ms=700)
    assert (won.index, won.parts) == (1, ("b",))
    assert took_s == pytest.approx(0.8)
    assert first.closed == 1


def test_a_fast_service_is_not_hedged() -> None:
    first, second = Brain("a", wait_ms=300), Brain("b")
    assert race(first, second, after_ms=700)[0].index == 0
    assert not second.requests


def test_the_slow_one_may_still_win() -> None:
    first, second = Brain("a", wait_ms=900), Brain("b", wait_ms=5_000)
    assert race(first, second, after_ms=700)[0].index == 0
    assert second.closed == 1


def test_an_empty_answer_is_an_answer() -> None:
    assert race(Brain(), Brain("b"))[0].parts == ()


def test_if_all_fail_the_last_failure_is_raised() -> None:
    with pytest.raises(ServiceError, match="down"):
        race(Brain("a", fails_at=0), Brain("b", fails_at=0), after_ms=100)
