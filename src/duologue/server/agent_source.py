"""Where a server gets the agent of a call: one agent for all calls, or a function that makes one for each.

Rule: a function that raises or hangs costs only its own call. The person hears an apology, and the call ends.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

from duologue.core.settings import Settings, profile
from duologue.ports.brain import LastWords, Part, Request
from duologue.ports.context import CallInfo, Context
from duologue.runtime.agent import Agent, InvalidAgent

LOG = logging.getLogger("duologue.server")
MAKE_S_MAX = 5.0
AgentOrMaker: TypeAlias = Agent | Callable[..., Any]


class AgentSource:
    """Makes the agents of calls. `given` is an agent, a function without arguments, or a function of the context."""

    def __init__(self, given: AgentOrMaker) -> None:
        self._given = given
        self.takes_context = not isinstance(given, Agent) and _takes_context(given)

    @cached_property
    def first(self) -> Agent:
        """The agent, or one that is made for a call without facts. A server asks for it when it starts, so that a
        broken agent fails before the first call."""
        if not self.takes_context:
            return self.plain()
        with ThreadPoolExecutor(1) as thread:  # an async function can't be awaited here
            return thread.submit(asyncio.run, self._make(Context(CallInfo()))).result()

    def plain(self) -> Agent:
        """The agent of a call, if no function of the context makes it."""
        return self._given if isinstance(self._given, Agent) else _checked(self._given())

    async def make(self, context: Context[Any]) -> Agent:
        """The agent of a call. If a function of the context fails, it is an agent that apologises and ends the call.
        Raises what a function without arguments raises."""
        if not self.takes_context:
            return self.plain()
        try:
            return await self._make(context)
        except Exception as failure:
            LOG.error("the function that makes the agent failed: %s", type(failure).__name__)
            LOG.debug("the function that makes the agent failed", exc_info=failure)
            context.data = None
            return apologising(await asyncio.to_thread(lambda: self.first))

    async def _make(self, context: Context[Any]) -> Agent:
        make: Any = self._given
        async with asyncio.timeout(MAKE_S_MAX):
            if inspect.iscoroutinefunction(make):
                return _checked(await make(context))
            return _checked(await asyncio.to_thread(make, context))


def _takes_context(make: Callable[..., Any]) -> bool:
    try:
        inspect.signature(make).bind()
    except TypeError:
        return True
    except ValueError:
        return False  # a builtin without a signature
    return False


def _checked(made: Any) -> Agent:
    if not isinstance(made, Agent):
        raise InvalidAgent(f"the function must return an Agent, not {type(made).__name__}")
    return made


def apologising(agent: Agent) -> Agent:
    """An agent with the same voice that says that it can't help now, and ends the call."""
    text = agent.says("ended", 0)

    async def apologise(request: Request) -> AsyncIterator[Part]:  # noqa: ARG001
        yield LastWords(text)

    settings = agent.profile if isinstance(agent.profile, Settings) else profile(agent.profile)
    return Agent(
        apologise,
        name=agent.name,
        voice=agent.voice,
        ears=agent.ears,
        language=agent.language,
        phrases=replace(agent.phrases, greeting=""),
        profile=replace(settings, greets=True),
    )
