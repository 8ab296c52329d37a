"""The conversation behind a translation: one input after another, a beginning that may fail, and an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from duologue import Agent
from duologue.fairness.bucket import Rate
from duologue.ports.context import CallInfo, Context
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.close_codes import CloseCode
from duologue.server.conversations import Conversations
from duologue.server.protocols.closes import NOT_STARTED, OVER, STOPPING
from duologue.server.protocols.translated_call import TranslatedCall, begin_counted
from duologue.server.settings import Limits, ServerSettings
from duologue.testing import ScriptedLine
from tests.server.realtime.tone_agent import tone_agent


class EchoCall(TranslatedCall[int]):
    """Each input is an act. An act above 1 posts the next smaller one while it is performed."""

    def __init__(self, agent: Agent, limits: Limits | None = None) -> None:
        super().__init__(Context(CallInfo(conversation="0" * 32)), limits or Limits(), [].append, "an address")
        self.agent = agent
        self.done: list[str] = []

    def _step(self, given: int) -> tuple[int, ...]:
        self.done.append(f"step {given}")
        return (given,)

    def _table(self) -> dict[type, Callable[[Any], object]]:
        return {int: self._act}

    def _act(self, given: int) -> None:
        if given > 1:
            self.post(given - 1)
        self.done.append(f"act {given}")

    def _listen(self, made: Conversation) -> None:
        self.done.append("listen")

    async def begin(self) -> None:
        await self._open(self.agent, ScriptedLine(), None, lambda made: None)


class Begun:
    """A call, and what its client was told."""

    def __init__(self, begin: Any = None, **limits: Any) -> None:
        self.settings = ServerSettings(limits=Limits(**limits))
        agent = tone_agent()
        self.conversations = Conversations(agent, self.settings)
        self.call = EchoCall(agent, self.settings.limits)
        self.refused: list[CloseCode] = []
        self.over: list[CloseCode] = []
        self._begin = begin or self.call.begin

    async def begin(self) -> bool:
        return await begin_counted(self.call, self.conversations, self._begin, self.refused.append, self.over.append)


def test_an_input_that_comes_while_another_is_performed_waits_for_its_end() -> None:
    async def whole() -> list[str]:
        call = EchoCall(tone_agent())
        call.post(2)
        return call.done

    assert run_simulated(whole()) == ["step 2", "act 2", "step 1", "act 1"]


def test_a_call_is_counted_and_its_end_is_told() -> None:
    async def whole() -> None:
        made = Begun()
        assert await made.begin()
        assert (made.call.has_begun, made.call.is_over, made.call.done) == (True, False, ["listen"])
        assert len(made.conversations.starts) == 1
        await made.call.end("a reason")
        assert made.call.over is not None
        await made.call.over
        await asyncio.sleep(0)
        assert made.over == [OVER]
        assert made.refused == []

    run_simulated(whole())


def test_a_call_that_ends_because_the_server_stops_invites_the_client_to_come_back() -> None:
    async def whole() -> None:
        made = Begun()
        await made.begin()
        made.conversations.is_draining = True
        await made.call.end("the server stops")
        await asyncio.sleep(0)
        assert made.over == [STOPPING]

    run_simulated(whole())


def test_a_call_that_may_not_start_or_cannot_is_refused_with_the_reason() -> None:
    async def broken() -> None:
        raise ValueError("a part of the agent")

    async def whole() -> None:
        full = Begun(starts=Rate(1, 60_000, 1))
        assert await full.begin()
        assert not await full.begin()
        assert full.refused[0].code == 1013
        cannot = Begun(broken)
        assert not await cannot.begin()
        assert cannot.refused == [NOT_STARTED]

    run_simulated(whole())


def test_a_call_in_which_nothing_is_said_ends_by_itself() -> None:
    async def whole() -> None:
        made = Begun(unspoken_s_max=30)
        await made.begin()
        assert made.call.over is not None
        assert not made.call.has_spoken
        assert await made.call.over == "nothing was said within 30 s"

    run_simulated(whole())
