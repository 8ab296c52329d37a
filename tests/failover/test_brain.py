"""Several brains as one, also in a whole conversation."""

from __future__ import annotations

import pytest

from duologue import Fallback
from duologue.failover.brain import FallbackBrain
from duologue.ports import Part, Request, ServiceError, Summarises
from duologue.runtime.simulated_clock import run_simulated
from tests.failover.failing_services import Brain

ASKED = Request(1, "Hello.")


async def parts_of(brain: FallbackBrain) -> list[Part]:
    return [part async for part in brain.reply(ASKED)]


def test_a_brain_that_fails_before_its_first_part_is_followed_by_the_next() -> None:
    first, second = Brain("a", fails_at=0), Brain("Good ", "day.")
    brain = Fallback(first, second)
    assert run_simulated(parts_of(brain)) == ["Good ", "day."]
    assert brain.in_use == "Brain 2"
    assert first.requests == second.requests == [ASKED]


def test_after_its_first_part_a_brain_is_kept_so_that_nothing_is_said_twice() -> None:
    first, second = Brain("Good ", "day.", fails_at=1), Brain("Hello.")

    async def work() -> list[Part]:
        reply = Fallback(first, second).reply(ASKED)
        said = [await anext(reply)]
        with pytest.raises(ServiceError, match="down"):
            await anext(reply)
        return said

    assert run_simulated(work()) == ["Good "]
    assert not second.requests


def test_a_brain_that_has_failed_twice_is_left_out_until_it_has_rested() -> None:
    first, second = Brain("a", fails_at=0), Brain("b")
    brain = Fallback(first, second)

    async def work() -> None:
        import asyncio

        for _ in range(4):
            assert await parts_of(brain) == ["b"]
        assert len(first.requests) == 2
        first.fails_at = None
        await asyncio.sleep(16)
        assert await parts_of(brain) == ["a"]

    run_simulated(work())


def test_closing_the_reply_closes_the_brain() -> None:
    first = Brain("a", "b")

    async def work() -> None:
        reply = Fallback(first, Brain("c")).reply(ASKED)
        assert await anext(reply) == "a"
        await reply.aclose()
        assert first.closed == 1

    run_simulated(work())


def test_it_is_asked_early_only_if_every_brain_may_be() -> None:
    class Guessing(Brain):
        can_guess = True

    assert Fallback(Guessing(), Guessing()).can_guess
    assert not Fallback(Guessing(), Brain()).can_guess


def test_it_summarises_only_if_a_brain_can() -> None:
    class Summarising(Brain):
        async def summarise(self, text: str, chars_max: int) -> str:
            return text[:chars_max]

    assert isinstance(Fallback(Brain(), Summarising()), Summarises)
    assert not isinstance(Fallback(Brain(), Brain()), Summarises)
