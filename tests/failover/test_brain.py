"""Several brains as one, also in a whole conversation."""

from __future__ import annotations

import asyncio

import pytest

from duologue import Fallback, HealthRule
from duologue.failover.brain import FallbackBrain
from duologue.ports import Part, Request, ServiceError, Summarises, ToolCall
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
        for _ in range(4):
            assert await parts_of(brain) == ["b"]
        assert len(first.requests) == 2
        first.fails_at = None
        await asyncio.sleep(16)
        assert await parts_of(brain) == ["a"]

    run_simulated(work())


def test_a_slow_brain_is_overtaken_by_the_next_and_closed() -> None:
    first, second = Brain("a", wait_ms=5_000), Brain("b")
    brain = Fallback(first, second, after_ms=700)

    async def work() -> None:
        began = asyncio.get_running_loop().time()
        assert await parts_of(brain) == ["b"]
        assert asyncio.get_running_loop().time() - began == pytest.approx(0.7)

    run_simulated(work())
    assert first.requests == second.requests == [ASKED]
    assert (first.closed, second.closed) == (1, 1)


def test_a_brain_that_answers_in_time_is_not_hedged() -> None:
    first, second = Brain("a", wait_ms=600), Brain("b")
    assert run_simulated(parts_of(Fallback(first, second, after_ms=700))) == ["a"]
    assert not second.requests


def test_after_three_slow_answers_the_next_brain_is_asked_first() -> None:
    first, second = Brain("a", wait_ms=900), Brain("b")
    brain = Fallback(first, second, rule=HealthRule(slow_ms=500))

    async def work() -> list[list[Part]]:
        return [await parts_of(brain) for _ in range(4)]

    assert run_simulated(work()) == [["a"], ["a"], ["a"], ["b"]]
    assert len(first.requests) == 3
    assert brain.in_use == "Brain 2"


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


class GoingOn(Brain):
    can_go_on = True


def test_within_an_answer_another_brain_goes_on_after_the_last_whole_sentence() -> None:
    first = GoingOn("Your table is booked. ", "We look for", "ward to it.", fails_at=2)
    deaf, second = Brain("Hello."), GoingOn("It is table four. ", "Good bye.")
    brain = Fallback(first, deaf, second)
    said = "".join(map(str, run_simulated(parts_of(brain))))
    assert said.split() == "Your table is booked. It is table four. Good bye.".split()
    assert not deaf.requests  # it couldn't know what was said
    assert second.requests[0].said == "Your table is booked."
    assert second.requests[0].text == ASKED.text


def test_a_third_brain_goes_on_if_the_second_fails_too() -> None:
    first, second = GoingOn("One. ", "Tw", fails_at=2), GoingOn("Two. ", "Thr", fails_at=2)
    third = GoingOn("Three.")
    said = "".join(map(str, run_simulated(parts_of(Fallback(first, second, third)))))
    assert said.split() == ["One.", "Two.", "Three."]
    assert third.requests[0].said.split() == ["One.", "Two."]


def test_after_a_tool_call_no_other_brain_goes_on() -> None:
    first = GoingOn("One moment. ", ToolCall("book", {}), "a", fails_at=2)
    second = GoingOn("b")

    async def work() -> None:
        with pytest.raises(ServiceError, match="down"):
            await parts_of(Fallback(first, second))

    run_simulated(work())
    assert not second.requests
