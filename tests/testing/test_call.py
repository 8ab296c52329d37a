"""The test tool `Call`: it never hangs, and a failed expectation explains itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.ports import Request, ToolCall
from duologue.ports.context import Context
from duologue.runtime.agent import Agent
from duologue.testing import Call as PhoneCall
from duologue.testing import Delay, Hang, LiveCall, ScriptedBrain, ScriptedWorker, scripted_tool


def test_a_call_whose_worker_does_not_hear_its_cancel_still_ends() -> None:
    class Stubborn(ScriptedWorker):
        async def run(self, arguments: object, job: object) -> object:
            for _ in range(50):
                try:
                    await asyncio.sleep(10)
                except asyncio.CancelledError:
                    continue
            return "at last"

    agent = Agent(ScriptedBrain([ToolCall("slow"), "Done."]), tools=[Stubborn(scripted_tool("slow").tool)])
    with PhoneCall(agent) as call:
        call.says("do it")
        call.waits(1_000)
    assert call.conversation.phase == "idle"


def test_a_call_that_never_comes_to_rest_says_so_instead_of_hanging() -> None:
    agent = Agent(ScriptedBrain([ToolCall("slow")]), tools=[scripted_tool("slow", Hang(), mode="delegate")])
    with PhoneCall(agent) as call:
        call.says("do it")
        with pytest.raises(AssertionError, match="never comes to rest"):
            call.settles()


def test_an_interruption_that_never_has_a_chance_says_so() -> None:
    with PhoneCall(Agent(ScriptedBrain([[Delay(1_000), ""]]))) as call:
        call.user("hello there")
        with pytest.raises(AssertionError, match="did not speak for 60000 ms"):
            call.interrupts("stop", after_ms=60_000)


def farewell(request: Request, context: Context[Any]) -> str:
    if request.text == "bye":
        context.end()
        return "Good bye."
    return "Go on."


def test_an_end_that_is_about_to_come_is_waited_for() -> None:
    with PhoneCall(farewell) as call:
        with pytest.raises(AssertionError, match="the call goes on"):
            call.user("hello").settles().expect_ended()
        call.user("bye").expect_heard("Good bye.").expect_ended()


def test_on_the_real_clock_it_is_waited_for_too() -> None:
    async def work() -> None:
        async with LiveCall(farewell) as call:
            await call.user("bye")
            await call.expect_ended()

    asyncio.run(work())
