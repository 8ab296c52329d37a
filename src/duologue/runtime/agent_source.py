"""Where the agent for a call comes from: one agent for all calls, or a function that makes an agent for each call.

Rule: if the function raises an exception or hangs for a call, only that conversation is affected. The user hears an
apology, and the call ends. (A function that isn't async and takes no context is called directly instead: the caller of
`make` gets its exception.)
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial, wraps
from typing import TYPE_CHECKING, Any, TypeAlias

from duologue.core.settings import Settings, profile
from duologue.fairness.fair_threads import AGENTS
from duologue.ports.brain import LastWords, Part, Request
from duologue.ports.context import CallInfo, Context
from duologue.ports.failure_report import report_failure

from .agent import Agent, InvalidAgent
from .policy_choice import CHOOSER, choose_policies

if TYPE_CHECKING:
    from .engine import Engine

MAKE_S_MAX = 5.0
MAKER = "the function that makes the agent"  # names the function in reports of failures
AgentOrMaker: TypeAlias = Agent | Callable[..., Any]


class AgentSource:
    """Provides the agent for each call. `given` is an agent, or a function that returns an agent. The function may be
    async, and may take the context of the call."""

    def __init__(self, given: AgentOrMaker) -> None:
        self._given = given
        self._takes_context = not isinstance(given, Agent) and _takes_context(given)
        self.is_awaited = self._takes_context or inspect.iscoroutinefunction(given)

    @cached_property
    def first(self) -> Agent:
        """The given agent, or the agent that the given function makes for an empty context (without any facts about a
        call). A server reads this when it starts, so that a broken agent is noticed before the first call."""
        if not self.is_awaited:
            return self.plain()
        with ThreadPoolExecutor(1) as thread:  # an async function can't be awaited here
            return thread.submit(asyncio.run, self.try_to_make(Context(CallInfo()))).result()

    def plain(self) -> Agent:
        """The agent for a call, made without awaiting and without a context. Call this only if `is_awaited` is
        False."""
        return self._given if isinstance(self._given, Agent) else _checked(self._given())

    async def make(self, context: Context[Any]) -> Agent:
        """Return the agent for a call, made by the given function if there is one. If a function that is async or takes
        the context fails, the result is an agent that apologises, reports the failure and ends the call. The exception
        of a plain function without the context is raised here."""
        if not self.is_awaited:
            return self.plain()
        try:
            return await self.try_to_make(context)
        except Exception as failure:  # noqa: BLE001 - a function may raise anything; it is reported in the call
            context.data = None
            return apologising(await self._known_or_plain(), failure)

    async def try_to_make(self, context: Context[Any]) -> Agent:
        """Return the agent for a call. Raises what the given function raises, and InvalidAgent if the function takes
        longer than MAKE_S_MAX or doesn't return an Agent."""
        if isinstance(self._given, Agent) or not self.is_awaited:
            return self.plain()
        make = partial(self._given, context) if self._takes_context else self._given
        limit = asyncio.timeout(MAKE_S_MAX)
        try:
            async with limit:
                if inspect.iscoroutinefunction(self._given):
                    return _checked(await make())
                return _checked(await AGENTS.run_for(context.conversation or str(id(context)), make))
        except TimeoutError as late:
            if not limit.expired():
                raise  # the function itself raised a TimeoutError
            raise InvalidAgent(f"the function that makes the agent took longer than {MAKE_S_MAX:.0f} s") from late

    async def _known_or_plain(self) -> Agent:
        """Return the agent that the function makes for an empty context. Used after the function has failed for a call.
        If it fails for the empty context too, report that, and return an agent without a voice."""
        if "first" not in self.__dict__:
            try:
                self.__dict__["first"] = await self.try_to_make(Context(CallInfo()))
            except Exception as failure:  # noqa: BLE001 - the call has failed already
                report_failure(MAKER, failure)
                return Agent(lambda request: "")  # noqa: ARG005
        return self.first


def changed(given: AgentOrMaker, change: Callable[[Agent], Agent]) -> AgentOrMaker:
    """Apply this change to an agent. If `given` is a function that makes agents, returns a function that makes the
    changed agents."""
    if isinstance(given, Agent):
        return change(given)
    make: Callable[..., Any] = given

    @wraps(make)
    async def make_later(*context: Any) -> Agent:
        return change(_checked(await make(*context)))

    @wraps(make)
    def make_now(*context: Any) -> Agent:
        return change(_checked(make(*context)))

    return make_later if inspect.iscoroutinefunction(make) else make_now


def makes_agents(function: Callable[..., Any]) -> bool:
    """Does this function make an agent? If it doesn't, the caller takes it for a brain. It makes an agent if it has no
    parameters, or if its first parameter has the name `context` or a type with "Context" in its name. Examples:
    `make()` and `make(context)` make an agent; `answer(request)` and `answer(request, context)` are brains. False if
    the signature can't be read, for example because the object isn't a function."""
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if not given or given[0].name == "context":
        return True
    kind = given[0].annotation
    return "Context" in (kind if isinstance(kind, str) else repr(kind))


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


def engine_for(agent: Agent, make: Callable[[Agent], Engine], is_new: bool) -> Engine:
    """Make the engine of a call with `make`, and let the agent's functions choose the turn-taking policies, if it has
    such functions. If one of them fails, a new call gets an agent that apologises and ends the call, and a restored
    call goes on with the default policies."""
    engine = make(agent)
    try:
        choose_policies(engine)
    except Exception as failure:  # noqa: BLE001 - a function may raise anything; it is reported in the call
        if is_new:
            return make(apologising(agent, failure, CHOOSER))
        engine.report_failure(CHOOSER, failure)
    return engine


def apologising(agent: Agent, failure: BaseException, where: str = MAKER) -> Agent:
    """Make an agent with the voice of `agent` that says that it can't help now, reports the failure, and ends the call.
    `where` names the function that failed."""
    text = agent.says("ended", 0)

    async def apologise(request: Request) -> AsyncIterator[Part]:  # noqa: ARG001
        report_failure(where, failure)
        yield LastWords(text)

    settings = agent.profile if isinstance(agent.profile, Settings) else profile(agent.profile)
    return Agent(
        apologise,
        name=agent.name,
        voice=agent.voice,
        ears=agent.ears,
        language=agent.language,
        private=agent.private,
        phrases=replace(agent.phrases, greeting=""),
        profile=replace(settings, greets=True),
    )
