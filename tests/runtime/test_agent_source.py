"""Where the agent of a call comes from: an agent, or a function that makes one for each call."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from typing import Any

import pytest

from duologue import Agent, CallInfo, Context, Phrases, Request
from duologue.ports.failure_report import report_failures_to
from duologue.runtime.agent import InvalidAgent
from duologue.runtime.agent_source import MAKE_S_MAX, AgentSource, changed, makes_agents
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import Call


@dataclass
class Caller:
    name: str = ""


def agent_for(context: Context[Caller]) -> Agent:
    context.data = Caller(context.info.parameters.get("name", "stranger"))
    return Agent(lambda request, context: f"Hello {context.data.name}.")


def test_a_function_without_arguments_makes_agents() -> None:
    made = [Agent(lambda request: "One."), Agent(lambda request: "Two.")]
    source = AgentSource(lambda: made[-1])
    assert not source.is_awaited
    assert source.first is made[-1]


def test_an_async_function_without_arguments_makes_agents_too() -> None:
    async def make() -> Agent:
        return Agent(lambda request: "Fine.", name="made")

    assert AgentSource(make).first.name == "made"
    assert run_simulated(AgentSource(make).make(Context())).name == "made"


def test_a_call_in_a_test_takes_a_function_of_the_context() -> None:
    with Call(agent_for, info=CallInfo(parameters={"name": "Ada"})) as call:
        call.user("hi").expect_heard("Hello Ada.")
        assert call.context.data == Caller("Ada")


@pytest.mark.parametrize(
    ("function", "makes"),
    [
        (agent_for, True),
        (lambda: Agent(lambda request: ""), True),
        (lambda context: Agent(lambda request: ""), True),
        (lambda request: "", False),
        (lambda request, context: "", False),
        (object(), False),
    ],
)
def test_a_brain_is_told_from_a_function_that_makes_agents(function: Any, makes: bool) -> None:
    assert makes_agents(function) is makes


def test_a_change_is_made_to_every_agent() -> None:
    async def later(context: Context[Any]) -> Agent:
        return Agent(lambda request: "", name="later")

    def quiet(agent: Agent) -> Agent:
        return replace(agent, phrases=Phrases(greeting="Hush."))

    for given in (Agent(lambda request: ""), lambda: Agent(lambda request: ""), agent_for, later):
        source = AgentSource(changed(given, quiet))
        assert source.first.phrases.greeting == "Hush."
        assert run_simulated(source.make(Context())).phrases.greeting == "Hush."


def test_a_function_that_fails_is_reported_where_the_developer_sees_it() -> None:
    def make(context: Context[Any]) -> Agent:
        if context.conversation:
            raise KeyError("no such customer")
        return Agent(lambda request: "Fine.")

    async def run() -> list[tuple[str, BaseException]]:
        told: list[tuple[str, BaseException]] = []
        agent = await AgentSource(make).make(Context(CallInfo("one")))
        report_failures_to(lambda where, failure: told.append((where, failure)))
        said = [part async for part in agent.thinker.reply(Request(1, (), ""))]
        assert len(said) == 1
        return told

    ((where, failure),) = run_simulated(run())
    assert (where, repr(failure)) == ("the function that makes the agent", "KeyError('no such customer')")


def test_a_function_that_takes_too_long_is_named_and_its_own_time_limits_are_its_own() -> None:
    async def hangs(context: Context[Any]) -> Agent:
        await asyncio.sleep(1_000)
        raise AssertionError

    async def gives_up(context: Context[Any]) -> Agent:
        raise TimeoutError("the customer database")

    with pytest.raises(InvalidAgent, match=f"took longer than {MAKE_S_MAX:.0f} s"):
        run_simulated(AgentSource(hangs).try_to_make(Context()))
    with pytest.raises(TimeoutError, match="the customer database"):
        run_simulated(AgentSource(gives_up).try_to_make(Context()))


def test_functions_that_block_forever_dont_delay_the_agents_of_other_calls() -> None:
    over, started = threading.Event(), threading.Semaphore(0)

    def make(context: Context[Any]) -> Agent:
        if context.conversation.startswith("stuck"):
            started.release()
            over.wait()
        return Agent(lambda request: "Fine.", name="made")

    async def run() -> str:
        source = AgentSource(make)
        stuck = [asyncio.ensure_future(source.make(Context(CallInfo(f"stuck {number}")))) for number in range(20)]
        for _ in stuck:
            await asyncio.to_thread(started.acquire)
        good = await source.make(Context(CallInfo("good")))
        over.set()
        await asyncio.gather(*stuck)
        return good.name

    assert asyncio.run(run()) == "made"
