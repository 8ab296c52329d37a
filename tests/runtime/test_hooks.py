"""Hooks: they see what happens in a call, and can't break it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue import Agent, CallInfo, Context, Conversation, Hooks, Request, ToolCall
from duologue.lines.scripted import ScriptedLine
from duologue.ports.client_channel import ProgramMessage
from duologue.ports.context import NotPossible
from duologue.ports.usage_report import report_usage
from duologue.runtime.agent import InvalidAgent
from duologue.runtime.hooks import HOOK_S_MAX, CallUsage
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import Call
from duologue.workers.collect import CollectName, NotCollected
from tests.server.moving_nodes import Node, Page, hello_of, store_here


def noting(seen: list[Any], name: str) -> Any:
    async def hook(context: Context[Any], *told: object) -> None:
        seen.append((name, *told))

    return hook


async def look() -> str:
    """Look."""
    return "found"


async def brain(request: Request) -> AsyncIterator[Any]:
    if request.text == "please fail now":
        raise ValueError
    if request.outputs:
        yield "Found it."
    else:
        yield ToolCall("look", {})


def test_every_hook_is_called_with_the_context_and_the_signal() -> None:
    seen: list[Any] = []
    names = ("on_start", "on_turn", "on_state", "on_tool", "on_fault", "on_end", "on_usage")
    hooks = Hooks(**{name: noting(seen, name) for name in names})
    with Call(Agent(brain, tools=[look], hooks=hooks)) as call:
        call.user("look it up").expect_heard("Found it.")
        call.user("please fail now").waits(30_000).hangs_up().waits(100)
    called = [name for name, *_ in seen]
    assert called[0] == "on_start"
    assert called.count("on_end") == called.count("on_usage") == 1
    assert {name for name in names if name not in called} == set()
    (usage,) = [told for name, *rest in seen if name == "on_usage" for told in rest]
    assert isinstance(usage, CallUsage)
    assert (usage.turns, usage.tool_calls) == (2, 1)


def test_a_hook_that_raises_or_hangs_doesnt_break_the_call() -> None:
    async def raises(context: Context[Any], told: object) -> None:
        raise KeyError("secret")

    async def hangs(context: Context[Any]) -> None:
        await asyncio.sleep(1_000)

    with Call(Agent(lambda request: "Fine.", hooks=Hooks(on_start=hangs, on_turn=raises))) as call:
        call.user("hello there").expect_heard("Fine.")
        call.waits(round(HOOK_S_MAX * 1000) + 100)
        failed = {failure.where for failure in call.conversation.engine.failures}
        assert failed == {"on_start", "on_turn"}
        call.user("hello again").expect_heard("Fine.")


def test_a_hook_that_isnt_async_is_refused_when_the_agent_is_made() -> None:
    with pytest.raises(InvalidAgent, match="on_end must be an async function"):
        Agent(lambda request: "", hooks=Hooks(on_end=lambda context, told: None))


def test_a_message_of_the_client_gets_the_value_of_its_hook() -> None:
    async def answer(context: Context[Any], message: ProgramMessage) -> object:
        if message.type == "slow":
            await asyncio.sleep(1_000)
        return [context.line, message.data]

    async def whole(agent: Agent, kind: str) -> object:
        conversation = Conversation(agent, ScriptedLine(), context=Context(CallInfo(line="test")))
        return await conversation.hooks.answer(ProgramMessage(kind, 7))

    heard = Agent(brain, hooks=Hooks(on_message=answer))
    assert run_simulated(whole(heard, "quick")) == ["test", 7]
    with pytest.raises(NotPossible, match="could not answer"):
        run_simulated(whole(heard, "slow"))
    with pytest.raises(NotPossible, match="no hook `on_message`"):
        run_simulated(whole(Agent(brain), "quick"))


def test_a_call_that_moves_to_another_process_starts_once_and_ends_once() -> None:
    async def run() -> list[str]:
        seen: list[Any] = []
        names = ("on_start", "on_resume", "on_end", "on_usage")
        hooks = Hooks(**{name: noting(seen, name) for name in names})
        store = store_here()
        first, page = Node("first", store, lambda: Agent(brain, tools=[look], hooks=hooks)), Page()
        await first.open()
        served = await first.begin(page)
        await first.conversations.drain()
        seen.append(("moved",))
        assert served.is_elsewhere
        second = Node("second", store, lambda: Agent(brain, tools=[look], hooks=hooks))
        await second.open()
        again = await second.reconnect(Page(), hello_of(page))
        assert again is not None
        await asyncio.sleep(0.5)
        await again.end("enough")
        await asyncio.sleep(0.5)
        await second.leases.close()
        return [name for name, *_ in seen]

    assert run_simulated(run()) == ["on_start", "moved", "on_resume", "on_end", "on_usage"]


def test_the_usage_of_a_call_has_what_services_were_used() -> None:
    used: list[CallUsage] = []

    async def note(context: Context[Any], usage: CallUsage) -> None:
        used.append(usage)

    async def model(request: Request) -> AsyncIterator[str]:
        report_usage("llm", "example.com", "small", input_tokens=7, output_tokens=3)
        yield "Fine."

    with Call(Agent(model, hooks=Hooks(on_usage=note))) as call:
        call.user("hello there").expect_heard("Fine.").hangs_up().waits(100)
    (row,) = [row for row in used[0].services if row.part == "llm"]
    assert (row.provider, row.model, row.input_tokens, row.output_tokens) == ("example.com", "small", 7, 3)


def test_an_answer_that_is_only_shown_is_a_turn_too() -> None:
    async def run() -> list[tuple[str, str]]:
        told: list[tuple[str, str]] = []

        async def note(context: Context[Any], turn: Any) -> None:
            told.append((turn.turn.role, turn.turn.transcript))

        silent = Agent(lambda request: "Fine.", hooks=Hooks(on_turn=note))  # without a voice
        async with Conversation(silent, ScriptedLine()) as conversation:
            conversation.type("hello there")
            await asyncio.sleep(1)
        return told

    assert run_simulated(run()) == [("user", "hello there"), ("assistant", "Fine.")]


def test_a_hook_that_outlives_its_call_ends_quietly() -> None:
    collected: list[str] = []

    async def lead(context: Context[Any]) -> None:
        try:
            await context.run(CollectName())
        except NotCollected as problem:
            collected.append(str(problem))
            await context.say("I will call again later.")

    with Call(Agent(lambda request: "Fine.", hooks=Hooks(on_start=lead))) as call:
        call.settles().expect_heard("What is your name?").hangs_up().waits(1_000)
        assert not call.conversation.engine.failures
    assert collected == ["the person can't be asked: nothing can be said: the call has not started, or is over"]


def test_a_hook_with_the_wrong_number_of_parameters_is_refused_when_the_agent_is_made() -> None:
    async def lacks_the_signal(context: Context[Any]) -> None: ...

    async def wants_a_signal(context: Context[Any], told: object) -> None: ...

    with pytest.raises(InvalidAgent, match=r"on_turn gets the context, and what happened: write `async def lacks_the"):
        Agent(lambda request: "", hooks=Hooks(on_turn=lacks_the_signal))
    with pytest.raises(InvalidAgent, match=r"on_start gets the context: write `async def wants_a_signal\(context\)`"):
        Agent(lambda request: "", hooks=Hooks(on_start=wants_a_signal))
    Agent(lambda request: "", hooks=Hooks(on_turn=noting([], "on_turn"), on_start=noting([], "on_start")))
