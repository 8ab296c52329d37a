"""The agent of each call: made by a function of its context, with data of its own, and found again after a takeover."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from duologue import Agent, Context, Phrases, Request
from duologue.ports.context import CallInfo
from duologue.ports.history import AgentSaid
from duologue.runtime.agent_source import MAKE_S_MAX
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.server.conversations import Conversations
from duologue.server.settings import ServerSettings
from duologue.testing import ScriptedVoice
from tests.server.moving_nodes import TTL_MS, Node, Page, hello_of, store_here

CALLERS = 50


@dataclass
class Caller:
    name: str = ""
    turns: int = 0


async def remembers(request: Request, context: Context[Caller]) -> AsyncIterator[str]:
    """A brain that keeps a name between two turns, with a wait in which other calls run."""
    context.data.turns += 1
    if context.data.turns == 1:
        context.data.name = request.text
        await asyncio.sleep(0.01)
        yield "Noted."
    else:
        yield f"You are {context.data.name}."


def heard(served: Any) -> str:
    return " ".join(item.text for item in served.conversation.history if isinstance(item, AgentSaid))


async def hear_all(served: Any, page: Page) -> None:
    """Play what the agent says to its end."""
    voice, known = max(page.sounds), -1
    while page.sounds[voice] > known:
        known = page.sounds[voice]
        served.line.note_played(voice, known)
        await asyncio.sleep(0.1)
    served.line.note_finished(voice, known)
    await asyncio.sleep(1)


def test_fifty_callers_at_once_never_share_data() -> None:
    async def run() -> None:
        agent = Agent(remembers, data=Caller)  # one agent for all
        conversations = Conversations(agent, ServerSettings())
        calls = [await conversations.begin(Page(), {"seat": f"seat {n}"}, "en") for n in range(CALLERS)]  # type: ignore[arg-type]
        await asyncio.sleep(0.2)
        for number, served in enumerate(calls):
            served.do(ClientMessage("type", {"text": f"caller {number}"}))
        await asyncio.sleep(2)
        for served in calls:
            served.do(ClientMessage("type", {"text": "who am I"}))
        await asyncio.sleep(2)
        assert [heard(served) for served in calls] == [f"Noted. You are caller {n}." for n in range(CALLERS)]
        assert len({id(served.conversation.call_context.data) for served in calls}) == CALLERS

    run_simulated(run())


def test_a_function_of_the_context_makes_the_agent_of_each_call() -> None:
    async def make(context: Context[Any]) -> Agent:
        context.data = Caller(context.info.query.get("name", "stranger"))
        return Agent(lambda request, context: f"Hello {context.data.name}.")

    async def run() -> None:
        conversations = Conversations(make, ServerSettings())
        info = CallInfo(query={"name": "Ada"})
        first = await conversations.begin(Page(), {"seat": "one"}, "en", info=info)  # type: ignore[arg-type]
        second = await conversations.begin(Page(), {"seat": "two"}, "en")  # type: ignore[arg-type]
        await asyncio.sleep(0.2)
        for served in (first, second):
            served.do(ClientMessage("type", {"text": "hi"}))
        await asyncio.sleep(1)
        assert [heard(first), heard(second)] == ["Hello Ada.", "Hello stranger."]
        assert first.conversation.call_context.info.line == "browser"
        assert first.conversation.call_context.conversation == first.id

    run_simulated(run())


def test_a_function_that_raises_or_hangs_costs_only_its_own_call() -> None:
    calls = 0

    async def make(context: Context[Any]) -> Agent:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyError("no such customer")
        if calls == 4:
            await asyncio.sleep(1_000)
        return Agent(lambda request: "Fine.", voice=ScriptedVoice())

    async def run() -> None:
        conversations = Conversations(make, ServerSettings())  # the first call of the function is here
        pages = [Page() for _ in range(3)]
        good = await conversations.begin(pages[0], {"seat": "a"}, "en")  # type: ignore[arg-type]
        raised = await conversations.begin(pages[1], {"seat": "b"}, "en")  # type: ignore[arg-type]
        began = asyncio.get_running_loop().time()
        hung = await conversations.begin(pages[2], {"seat": "c"}, "en")  # type: ignore[arg-type]
        assert asyncio.get_running_loop().time() - began == MAKE_S_MAX
        await asyncio.sleep(0.3)
        for served, page in ((raised, pages[1]), (hung, pages[2])):
            await hear_all(served, page)  # an apology is spoken
        assert [len(page.of("ended")) for page in pages] == [0, 1, 1]
        good.do(ClientMessage("type", {"text": "hello"}))
        await asyncio.sleep(0.5)
        assert max(pages[0].sounds) > 0

    run_simulated(run())


def team(log: list[str]) -> Agent:
    def says(name: str) -> Any:
        def brain(request: Request, context: Context[Caller]) -> str:
            log.append(name)
            context.data.turns += 1
            return f"{name} {context.data.turns}."

        return brain

    billing = Agent(says("Billing"), name="billing", voice=ScriptedVoice(), phrases=Phrases())
    return Agent(says("Desk"), name="desk", voice=ScriptedVoice(), data=Caller, agents=(billing,))


def test_another_server_finds_the_same_agent_and_the_same_data() -> None:
    async def run() -> None:
        store, log = store_here(), []  # type: ignore[var-annotated]
        first, page = Node("first", store, lambda: team(log)), Page()
        await first.open()
        served = await first.begin(page)
        await served.conversation.call_context.hand_over("billing")
        served.conversation.call_context.data.name = "Ada"
        await asyncio.sleep(0.5)
        served.line.note_finished(max(page.sounds), page.sounds[max(page.sounds)])
        await asyncio.sleep(0.5)
        first.die()
        second, back = Node("second", store, lambda: team(log)), Page()
        await second.open()
        again = await second.reconnect(back, hello_of(page))
        assert again is not None
        await asyncio.sleep(TTL_MS / 1000)
        context = again.conversation.call_context
        assert (context.agent, context.data) == ("billing", Caller("Ada", 1))
        assert context.info.line == "browser"
        again.do(ClientMessage("type", {"text": "hello"}))
        await asyncio.sleep(0.5)
        assert log == ["Billing", "Billing"]
        assert context.data.turns == 2
        said = [item for item in again.conversation.history if isinstance(item, AgentSaid)]
        assert {item.speaker for item in said} == {"billing"}
        await second.leases.close()

    run_simulated(run())
