"""The test tool `Call`: it never hangs, and a failed expectation explains itself."""

from __future__ import annotations

import asyncio

import pytest

from duologue.ports import ToolCall
from duologue.runtime.agent import Agent
from duologue.testing import Call as PhoneCall
from duologue.testing import Delay, Hang, ScriptedBrain, ScriptedWorker, scripted_tool


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
