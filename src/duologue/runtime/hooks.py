"""Hooks: functions of the program that Duologue calls when a conversation starts, ends or changes.

Rule: a hook can't break the conversation. It runs beside the conversation, within a time limit, and its failure is
reported.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from duologue.core.leaves import CLOSED
from duologue.observe import signals as sg
from duologue.observe.usage import UsageRow
from duologue.ports.answering import work_beside_answers
from duologue.ports.client_channel import ProgramMessage
from duologue.ports.context import Context, NotPossible

from .program_speech import HOOK_LIMIT, HookLimit
from .tool_calls import RUNNING_CALL

if TYPE_CHECKING:
    from .engine import Engine

HOOK_S_MAX = 5.0
RUNNING_MAX = 100  # hooks that run at the same time in one call; more are dropped and reported
ANSWERS_MAX = 20  # messages of the client that are answered at the same time in one call; more are refused

Hook = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Hooks:
    """The program's async functions for one agent. Each gets the context of the call as its first argument. All but
    `on_start` and `on_resume` get a second argument, which says what happened."""

    on_start: Hook | None = None  # the call has begun
    on_resume: Hook | None = None  # this process continues a call that began in another one
    on_turn: Hook | None = None  # a turn of either side is complete: TurnCompleted or TurnInterrupted
    on_state: Hook | None = None  # the conversation has entered another phase: Transitioned
    on_tool: Hook | None = None  # a tool call has ended: WorkEnded
    on_fault: Hook | None = None  # a fault is shown to the person: Failed
    on_end: Hook | None = None  # the call is over: Ended
    on_usage: Hook | None = None  # what the call has used, when it is over: CallUsage
    on_message: Hook | None = None  # the client's program has sent a ProgramMessage: the result is the answer to it

    def problems(self) -> list[str]:
        """What is wrong with these hooks: a list with one text for each problem. The list is empty if there is no
        problem."""
        given = [(one.name, getattr(self, one.name)) for one in fields(self)]
        return [problem for name, hook in given if hook is not None and (problem := _problem_of(name, hook))]


NO_HOOKS = Hooks()
_ONLY_CONTEXT = ("on_start", "on_resume")


def _problem_of(name: str, hook: Hook) -> str:
    """What is wrong with this hook; "" if nothing is."""
    if not inspect.iscoroutinefunction(hook):
        return f"{name} must be an async function: write `async def`"
    given = ("context",) if name in _ONLY_CONTEXT else ("context", "told")
    try:
        inspect.signature(hook).bind(*given)
    except TypeError:
        wanted = "the context" if name in _ONLY_CONTEXT else "the context, and what happened"
        return f"{name} gets {wanted}: write `async def {hook.__name__}({', '.join(given)})`"
    return ""


@dataclass(frozen=True, slots=True)
class CallUsage:
    """What one call has used in this process. What the call used in an earlier process isn't included."""

    duration_ms: int
    turns: int  # of the person
    requests: int  # to the brain
    tool_calls: int
    spoken_ms: int  # heard speech of the agent
    services: tuple[UsageRow, ...] = ()  # tokens, characters and seconds by provider and model


class HookRunner:
    """Runs the hooks of one conversation."""

    def __init__(self, engine: Engine, hooks: Hooks, context: Context[Any], is_restored: bool = False) -> None:
        self.is_restored = is_restored  # the call began in another process
        self.has_moved = False  # another process continues the call
        self._engine = engine
        self._hooks = hooks
        self._context = context
        self._running: set[asyncio.Task[None]] = set()
        self._usage = _Counts()
        self._has_started = False
        self._answering = 0
        if hooks != NO_HOOKS:
            self._subscribe(engine)

    def _subscribe(self, engine: Engine) -> None:
        on = engine.bus.on
        on(sg.StateEntered, self._note_state)
        on(sg.Transitioned, lambda told: self._run("on_state", told) if told.view == "phase" else None)
        on(sg.TurnCompleted, self._note_turn)
        on(sg.TurnInterrupted, self._note_turn)
        on(sg.WorkEnded, self._note_tool)
        on(sg.Failed, lambda told: self._run("on_fault", told))
        on(sg.Ended, self._note_end)

    def _note_state(self, told: sg.StateEntered) -> None:
        if not self._has_started and self._engine.driver.state.link not in CLOSED:
            self._has_started = True
            self._usage.began_at = told.at
            self._run("on_resume" if self.is_restored else "on_start")

    def _note_turn(self, told: sg.TurnCompleted | sg.TurnInterrupted) -> None:
        turn = told.turn
        if turn.role == "user":
            self._usage.turns += 1
        else:
            self._usage.spoken_ms += turn.duration_ms
        self._run("on_turn", told)

    def _note_tool(self, told: sg.WorkEnded) -> None:
        self._usage.tool_calls += 1
        self._run("on_tool", told)

    def _note_end(self, told: sg.Ended) -> None:
        if told.has_moved:
            return  # the other process runs these hooks
        self._run("on_end", told)
        counts = self._usage
        requests = self._engine.announcer.meter.metrics().requests
        length_ms, services = told.at - counts.began_at, self._engine.usage.ledger.rows
        used = CallUsage(length_ms, counts.turns, requests, counts.tool_calls, counts.spoken_ms, services)
        self._run("on_usage", used)

    async def answer(self, message: ProgramMessage) -> object:
        """Call the hook `on_message` with a message from the client, and return its result. Raises NotPossible if there
        is no such hook, if it fails, or if it is already answering ANSWERS_MAX messages."""
        hook = self._hooks.on_message
        if hook is None:
            raise NotPossible("the agent can't receive messages: it has no hook `on_message`")
        if self._answering >= ANSWERS_MAX:
            raise NotPossible(f"the agent is already answering {ANSWERS_MAX} messages")
        self._answering += 1
        limit = HookLimit(HOOK_S_MAX)
        HOOK_LIMIT.set(limit)
        try:
            async with limit.timeout:
                return await hook(self._context, message)
        except Exception as failure:
            self._engine.report_failure("on_message", failure)
            raise NotPossible("the agent could not answer the message") from failure
        finally:
            self._answering -= 1
            self._engine.mark_context()

    def _run(self, name: str, *told: object) -> None:
        hook: Hook | None = getattr(self._hooks, name)
        if hook is None:
            return
        if len(self._running) >= RUNNING_MAX:
            self._engine.report_failure(name, RuntimeError(f"more than {RUNNING_MAX} hooks run"))
            return
        task = asyncio.get_running_loop().create_task(self._call(name, hook, told), name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _call(self, name: str, hook: Hook, told: tuple[object, ...]) -> None:
        work_beside_answers()
        RUNNING_CALL.set(0)
        limit = HookLimit(HOOK_S_MAX)
        HOOK_LIMIT.set(limit)
        try:
            async with limit.timeout:
                await hook(self._context, *told)
        except Exception as failure:  # noqa: BLE001 - a hook may raise anything
            is_over = self._engine.driver.is_closed or self._engine.driver.state.link in CLOSED
            if not (isinstance(failure, NotPossible) and is_over):  # a hook may outlive its call
                self._engine.report_failure(name, failure)
        finally:
            self._engine.mark_context()


@dataclass(slots=True)
class _Counts:
    began_at: int = 0
    turns: int = 0
    tool_calls: int = 0
    spoken_ms: int = 0
