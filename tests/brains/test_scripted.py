"""A scripted brain: replies in order or by what the user said, the same for the same seed."""

from __future__ import annotations

import asyncio

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.ports import Part, Request, ServiceError, ToolCall
from duologue.ports.scripted_steps import Delay, Fail
from duologue.runtime.simulated_clock import run_simulated


async def reply_to(brain: ScriptedBrain, text: str = "hello", reply: int = 1) -> list[Part]:
    return [part async for part in brain.reply(Request(reply, text))]


def test_replies_come_in_order_and_then_the_fallback() -> None:
    async def run() -> list[list[Part]]:
        brain = ScriptedBrain(["One.", ["Two.", ToolCall("look", {})]], otherwise="No more.")
        return [await reply_to(brain) for _ in range(3)]

    assert run_simulated(run()) == [["One. "], ["Two. ", ToolCall("look", {})], ["No more. "]]


def test_a_reply_is_chosen_by_what_the_user_said() -> None:
    async def run() -> list[list[Part]]:
        brain = ScriptedBrain({"Weather": "Sunny.", "time": "Noon."})
        return [await reply_to(brain, text) for text in ("what's the weather", "what TIME is it", "hm", "")]

    assert run_simulated(run()) == [["Sunny. "], ["Noon. "], ["I see. "], ["I see. "]]


def test_a_function_of_the_request_may_choose_the_reply() -> None:
    brain = ScriptedBrain(lambda request: f"You said {request.text}.")
    assert run_simulated(reply_to(brain, "yes")) == ["You said yes. "]
    assert [request.text for request in brain.requests] == ["yes"]


def test_words_are_streamed_with_delays() -> None:
    async def run() -> tuple[list[Part], int]:
        began = asyncio.get_running_loop().time()
        parts = await reply_to(ScriptedBrain(["One two three."], first_ms=500, token_ms=100))
        return parts, round((asyncio.get_running_loop().time() - began) * 1000)

    assert run_simulated(run()) == (["One ", "two ", "three. "], 800)


def test_the_same_seed_gives_the_same_delays() -> None:
    async def took_ms(seed: int) -> int:
        began = asyncio.get_running_loop().time()
        await reply_to(ScriptedBrain(["One two three."], token_ms=100, jitter_ms=400, seed=seed))
        return round((asyncio.get_running_loop().time() - began) * 1000)

    first, again, other = (run_simulated(took_ms(seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_a_script_can_fail_in_the_middle() -> None:
    async def run() -> list[Part]:
        reply = ScriptedBrain([["One.", Delay(100), Fail()]]).reply(Request(1, "hello"))
        first = await anext(reply)
        with pytest.raises(ServiceError):
            await anext(reply)
        return [first]

    assert run_simulated(run()) == ["One. "]


def test_a_reply_that_is_closed_early_is_recorded() -> None:
    async def run() -> list[int]:
        brain = ScriptedBrain(["One two three."], token_ms=100)
        reply = brain.reply(Request(7, "hello"))
        await anext(reply)  # type: ignore[arg-type]
        await reply.aclose()  # type: ignore[attr-defined]
        return brain.cancelled

    assert run_simulated(run()) == [7]
