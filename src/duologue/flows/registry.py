"""Actions, validators and normalisers: Python functions that flows refer to by name.

A parameter gets the value of the slot of the same name. The parameter `key` gets the idempotency key of the action: a
text that stays the same when this run of the action is retried. The parameter `context` gets a `Context`, with which
the function can read facts about the call and act on it; it is None if the dialogue isn't part of a call. Rule: a
function's result is checked before it is used, and the dialogue always gets an answer, even if the function fails or
hangs.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import ModuleType
from typing import Any, TypeAlias

from duologue.core.errors import DuologueError
from duologue.dialogue.effects import RunAction, Validate
from duologue.dialogue.events import ActionDone, Rejected, Validated, WorkFailed
from duologue.dialogue.flow import Domain, PerformAction
from duologue.fairness.fair_threads import TOOLS
from duologue.ports.context import Context
from duologue.ports.failure_report import report_failure

Once: TypeAlias = Callable[[str, str, Callable[[], Coroutine[Any, Any, Any]], bool], Coroutine[Any, Any, Any]]
ACTION_S_MAX = 30.0
VALIDATION_S_MAX = 5.0
_NOT_SLOTS = ("key", "confirmed", "value", "context")


class MissingFunctions(DuologueError):
    """Flows use functions that aren't registered. The message lists them."""


@dataclass(frozen=True, slots=True, init=False)
class Need:
    """An action returns this instead of acting, if it needs these slots first. The user is asked for them."""

    slots: tuple[str, ...]

    def __init__(self, *slots: str) -> None:
        object.__setattr__(self, "slots", slots)


@dataclass(frozen=True, slots=True)
class AskFirst:
    """An action returns this instead of acting, if it needs a confirmation first. The user is asked this question, and
    must say yes."""

    question: str


class _NotYet(Exception):
    """The action did nothing, because it first needs a slot or a confirmation."""

    def __init__(self, wish: Need | AskFirst) -> None:
        self.wish = wish


class Registry:
    """The Python functions that flows may use, by name."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]] | Iterable[Callable[..., Any]] = ()) -> None:
        given = functions.items() if isinstance(functions, Mapping) else ((one.__name__, one) for one in functions)
        self._functions: dict[str, Callable[..., Any]] = dict(given)

    @classmethod
    def of(cls, module: ModuleType) -> Registry:
        """A registry of the public functions and classes in the module, including those that the module imports."""
        found = {name: value for name, value in vars(module).items() if callable(value) and not name.startswith("_")}
        return cls(found)

    def check(self, domain: Domain) -> None:
        """Raise MissingFunctions if the flows use a function that isn't registered."""
        missing = [name for name in functions_of(domain) if name not in self._functions]
        if missing:
            raise MissingFunctions("; ".join(self._missing(name) for name in missing))

    def _missing(self, name: str) -> str:
        near = get_close_matches(name, self._functions, n=1)
        return f"function {name!r} isn't registered" + (f"; did you mean {near[0]!r}?" if near else "")

    # -- Calling the functions

    async def validate(
        self, effect: Validate, now: Callable[[], int], context: Context[Any] | None = None
    ) -> Validated | Rejected | WorkFailed:
        """Normalise a value, then validate it. A normaliser refuses a value by returning None, a validator by returning
        False or a text with the reason. Either of them may also refuse the value by raising ValueError."""
        value: Any = effect.value
        try:
            async with asyncio.timeout(VALIDATION_S_MAX):
                if effect.normaliser:
                    value = await self._check(effect.normaliser, value, effect, context)
                verdict = await self._check(effect.validator, value, effect, context) if effect.validator else True
            if verdict is False or isinstance(verdict, str):
                return Rejected(effect.request, verdict or "", now())
            json.dumps(value)
        except ValueError as refusal:
            return Rejected(effect.request, str(refusal), now())
        except Exception as failure:  # noqa: BLE001 - a user's function may raise anything
            report_failure(f"validation of slot {effect.slot}", failure)
            return _failed(effect.request, failure, now())
        return Rejected(effect.request, "", now()) if value is None else Validated(effect.request, value, now())

    async def _check(self, name: str, value: Any, effect: Validate, context: Context[Any] | None) -> Any:
        """Call a validator or normaliser. Its first parameter gets the value, its other parameters get the values of
        slots."""
        wanted = list(inspect.signature(self._functions[name]).parameters)
        return await self._call(
            name, {"context": context, **dict(effect.slots), wanted[0] if wanted else "value": value}
        )

    async def act(
        self,
        effect: RunAction,
        now: Callable[[], int],
        once: Once | None = None,
        context: Context[Any] | None = None,
    ) -> ActionDone | WorkFailed:
        """Run an action. If `once` is given, it runs the action, so that the action doesn't run a second time after a
        restart. There is one exception: an interrupted action with a parameter `key` runs again, because it can
        recognise by the key that this is the same operation."""
        given = {"context": context, **dict(effect.slots), "key": effect.key, "confirmed": effect.confirmed}
        try:
            async with asyncio.timeout(ACTION_S_MAX):
                result = await self._act(effect, given, once)
            match result:
                case Need():
                    return ActionDone(effect.request, (), now(), needs=result.slots)
                case AskFirst():
                    return ActionDone(effect.request, (), now(), confirm=result.question)
                case None:
                    return ActionDone(effect.request, (), now())
                case dict() if all(isinstance(name, str) for name in result):
                    json.dumps(result)
                    return ActionDone(effect.request, tuple(result.items()), now())
            raise TypeError(f"action {effect.action} must return a dict, not {type(result).__name__}")
        except Exception as failure:  # noqa: BLE001
            report_failure(f"action {effect.action}", failure)
            return _failed(effect.request, failure, now())

    async def _act(self, effect: RunAction, given: dict[str, Any], once: Once | None) -> Any:
        if once is None:
            return await self._call(effect.action, given)

        async def work() -> Any:
            result = await self._call(effect.action, given)
            if isinstance(result, Need | AskFirst):
                raise _NotYet(result)
            return result

        repeatable = "key" in inspect.signature(self._functions[effect.action]).parameters
        try:
            return await once(effect.key, effect.action, work, repeatable)
        except _NotYet as early:
            return early.wish

    async def _call(self, name: str, given: dict[str, Any]) -> Any:
        """Call a function with the parameters that it takes. A function that isn't async runs in a thread, because it
        may block."""
        function = self._functions[name]
        wanted = inspect.signature(function).parameters
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in wanted.values())
        named = {key: value for key, value in given.items() if key in wanted}
        if takes_all:
            named = {key: value for key, value in given.items() if key in wanted or key not in _NOT_SLOTS}
        if "slots" in wanted:
            named["slots"] = {key: value for key, value in given.items() if key not in _NOT_SLOTS}
        if inspect.iscoroutinefunction(function):
            return await function(**named)
        return await TOOLS.run(function, **named)


def functions_of(domain: Domain) -> tuple[str, ...]:
    """The names of all functions that the flows use."""
    slots = [name for spec in domain.slots.values() for name in (spec.validator, spec.normaliser) if name]
    actions = [at.action for flow in domain.flows.values() for at in flow.program if isinstance(at, PerformAction)]
    return tuple(dict.fromkeys((*slots, *actions)))


def _failed(request: int, failure: BaseException, at: int) -> WorkFailed:
    message = str(failure) or ("it timed out" if isinstance(failure, TimeoutError) else "no reason was given")
    return WorkFailed(request, type(failure).__name__, message.splitlines()[0][:300], at)
