"""The commands of a context, such as `say` and `hand_over`: what they do in the running conversation.

Rule: a command posts an event or raises NotPossible. It doesn't wait for the state machine's decision.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from duologue.core import events as ev
from duologue.core.leaves import CLOSED
from duologue.ports.context import Context, HistoryShare, NotPossible
from duologue.ports.history import CONFIDENCE_MIN

from .agent import Agent
from .call_data import check_data

if TYPE_CHECKING:
    from .engine import Engine

SUMMARY_S_MAX = 5.0  # for the brain to write a summary for the next agent


def context_for(agent: Agent, context: Context[Any] | None, conversation: str) -> Context[Any]:
    """Prepare the context of this conversation: the given one, or a new one if `context` is None. Its conversation id
    is set, and if it has no data, the agent makes the data. Raises DataNotSavable if the data can't be saved."""
    mine: Context[Any] = context if context is not None else Context()
    mine.info = replace(mine.info, conversation=conversation)
    if mine.data is None:
        mine.data = agent.make_data(mine.info)
    else:
        check_data(type(mine.data))
    return mine


class ConversationCommands:
    """The commands of one conversation. `note_reason` is called with the reason when the program ends the conversation.
    `open_tools` opens the servers that provide an agent's tools."""

    def __init__(
        self, engine: Engine, note_reason: Callable[[str], None], open_tools: Callable[[Any], Awaitable[None]]
    ) -> None:
        self._engine = engine
        self._note_reason = note_reason
        self._open_tools = open_tools

    @property
    def agent_name(self) -> str:
        return self._engine.agent.name

    @property
    def agent_language(self) -> str:
        return self._engine.agent.language

    @property
    def is_doubtful(self) -> bool:
        return self._engine.transcript.confidence_of(self._engine.driver.state.said) < CONFIDENCE_MIN

    def say(self, text: str) -> Awaitable[str]:
        driver = self._engine.driver
        if driver.is_other_thread:
            driver.call_soon(lambda: self._engine.attempt("say", lambda: self._engine.program.say(text)))
            return _InThread()
        return self._engine.program.say(text)

    async def ask(self, question: str, *, secret: bool, confirms: bool, limit_s: float | None) -> str:
        return await self._engine.program.ask(question, secret=secret, confirms=confirms, limit_s=limit_s)

    def update(self, changes: dict[str, Any]) -> None:
        self._check_running()
        if changes:
            self._engine.changes.update(changes)

    async def hand_over(self, agent: Any, history: HistoryShare) -> None:
        self._check_running()
        if history not in ("whole", "summary", "none"):
            raise ValueError(f"history must be whole, summary or none, not {history!r}")
        wanted = self._engine.changes.check(agent)
        await self._open_tools(wanted)
        summary = await self._summary() if history == "summary" else ""
        self._engine.changes.hand_over(self._engine.changes.check(agent), history, summary)

    async def _summary(self) -> str:
        made = self._engine.summary
        if made.can_improve:
            try:
                async with asyncio.timeout(SUMMARY_S_MAX):
                    await made.improve()
            except Exception as failure:  # noqa: BLE001 - without it, the turns are quoted
                self._engine.report_failure("summary", failure)
        return made.text

    def end(self, reason: str, after_speaking: bool) -> None:
        self._check_running()
        self._note_reason(reason)
        self._engine.driver.post(ev.EndAfterSpeaking if after_speaking else ev.EndRequested)

    async def all_said(self) -> bool:
        """Wait until the agent has said everything that it has to say, and return True. Return False as soon as the
        person says something, or if the call ends."""
        self._check_running()
        return await self._engine.program.all_said()

    def _check_running(self) -> None:
        if self._engine.driver.is_closed or self._engine.driver.state.link in CLOSED:
            raise NotPossible("the call has not started, or is over")


class _InThread:
    """What `say` returns if it is called in a thread, by a function that isn't async. Awaiting this object raises
    TypeError."""

    def __await__(self) -> Generator[Any, None, str]:
        raise TypeError("only an async function can wait until something was said: write `async def`")
