"""Lets a function of the program choose the turn-taking policies of each call: when a turn ends, and when a sound
interrupts the agent. The function gets the context of the call.

The function is called at the start of a call, and again when the agent or its language changes. Rule: a function only
chooses. What it returns is a policy like any other: a value that is saved with the call and written to its journal.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from duologue.core.errors import DuologueError
from duologue.hearing.codec import policy_from_json, policy_to_json
from duologue.hearing.policy import HearingPolicy
from duologue.ports.context import Context
from duologue.turns.endpoint import EndpointPolicy, policy
from duologue.turns.overlap import OverlapPolicy

if TYPE_CHECKING:
    from .agent import Agent
    from .engine import Engine

PolicyFunction: TypeAlias = Callable[[Context[Any]], Any]
CHOOSER = "the function that chooses a policy"  # names the function in reports of failures
_METHODS = {"endpoint": ("wait",), "overlap": ("begin", "frame", "heard", "lasted")}


class InvalidPolicy(DuologueError, ValueError):
    """This isn't a policy. The message says what is missing."""


def is_chooser(part: str, given: object) -> bool:
    """Is this a function that chooses the policy for `part` (endpoint or overlap), and not a policy itself?"""
    return callable(given) and not any(hasattr(given, name) for name in _METHODS[part])


def check_chooser(part: str, function: PolicyFunction) -> None:
    """Raise InvalidPolicy unless this function can be called with a context, and without `await`."""
    if inspect.iscoroutinefunction(function):
        raise InvalidPolicy(f"{part}: the function must not be async: write `def`")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise InvalidPolicy(f"{part}: the function must take one argument, the context") from None
    except ValueError:
        return  # a builtin without a signature


def endpoint_policy(given: Any) -> EndpointPolicy:
    """The endpoint policy for an argument that is a policy or the name of a policy. Raises InvalidPolicy or
    ValueError."""
    if isinstance(given, str):
        return policy(given)
    if not hasattr(given, "wait"):
        raise InvalidPolicy(f"endpoint must be an endpoint policy or a policy's name, not {given!r}")
    made: EndpointPolicy = given
    return made


def overlap_policy(given: Any, default: OverlapPolicy) -> OverlapPolicy:
    """The given overlap policy, or `default` if None is given. Raises InvalidPolicy."""
    if given is None:
        return default
    lacking = [name for name in _METHODS["overlap"] if not hasattr(given, name)]
    if lacking:
        raise InvalidPolicy(f"overlap must be an overlap policy, but {given!r} has no {lacking[0]}")
    made: OverlapPolicy = given
    return made


class PolicyChoice:
    """The policies that functions have chosen for one call. `saved` is what `dump` returned in an earlier process."""

    def __init__(self, saved: Mapping[str, Any] | None = None) -> None:
        self._saved = dict(saved or {})
        self._chosen: dict[str, Any] = {}

    def choose(self, agent: Agent, context: Context[Any]) -> HearingPolicy:
        """Let the agent's functions choose policies for this call, and return the whole hearing policy: the agent's
        own, with the chosen parts. After a restart, the saved choice is used one time instead of calling the function
        again. Raises what a function raises, and InvalidPolicy if a function doesn't return a policy."""
        self._chosen = {}
        saved, self._saved = self._saved, {}
        for part in _METHODS:
            given = getattr(agent, part)
            if is_chooser(part, given):
                own = policy_from_json(saved[part]) if part in saved else _read(part, given(context), agent.hearing)
                self._chosen[part] = own
        return replace(agent.hearing, **self._chosen) if self._chosen else agent.hearing

    def dump(self) -> dict[str, Any]:
        """The chosen policies as JSON values. A policy whose class isn't part of Duologue is left out, so its function
        is called again after a restart."""
        data = {part: policy_to_json(chosen) for part, chosen in self._chosen.items()}
        return {part: one for part, one in data.items() if one.get("own") is not False}


def choose_policies(engine: Engine) -> None:
    """Let the agent's functions choose the policies of this call. Raises what a function raises; the call then has the
    default policies."""
    chosen = engine.agent.hearing
    try:
        chosen = engine.policies.choose(engine.agent, engine.context)
    finally:
        if chosen != engine.hearing.policy:
            engine.hearing.policy = chosen
            if (recorder := engine.recorder) is not None:
                engine.attempt("ear journal", lambda: recorder.add_policy(chosen))


def _read(part: str, value: Any, own: HearingPolicy) -> Any:
    try:
        if is_chooser(part, value) or inspect.isawaitable(value):
            raise InvalidPolicy(f"{part} must be a policy, not {value!r}")
        return endpoint_policy(value) if part == "endpoint" else overlap_policy(value, own.overlap)
    except ValueError as problem:
        raise InvalidPolicy(f"{CHOOSER} has returned something that isn't a policy: {problem}") from None
