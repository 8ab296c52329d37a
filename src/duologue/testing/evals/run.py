"""Runs a suite: a model calls the agent, once for each run of each case. Every call is checked and judged.

Rule: a run passes only if its call was completed, every hard assertion holds and the judge confirmed every line of the
rubric. A run whose call could not be completed is an error; it never passes.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duologue.ports.brain import Brain
from duologue.runtime.agent_source import AgentOrMaker

from ..live_call import LiveCall
from .caller import EvalCaller
from .checks import broken_assertions, transcript_of
from .judge import CallJudgement, judge
from .model import EvalModelFailed
from .suite import EvalCase, EvalSuite

INTERRUPT_AFTER_MS = 60
UNJUDGED = CallJudgement()


@dataclass(frozen=True, slots=True)
class EvalModels:
    """The models of an evaluation: one that calls, and one that judges."""

    caller: Brain
    judge: Brain | None = None


@dataclass(frozen=True, slots=True)
class EvalRun:
    """One call and its results. `error` says why the call could not be completed."""

    case: str
    number: int
    seed: int
    turns: int = 0
    duration_ms: int = 0
    broken: tuple[str, ...] = ()
    judgement: CallJudgement = UNJUDGED
    transcript: str = ""
    error: str = ""
    journal: Path | None = None

    @property
    def is_pass(self) -> bool:
        return not self.error and not self.broken and self.judgement.is_pass


async def run_suite(
    suite: EvalSuite,
    agent: AgentOrMaker,
    models: EvalModels,
    *,
    seed: int = 1,
    journals: Path | None = None,
) -> AsyncIterator[EvalRun]:
    """Make every call of a suite, one after another. If `journals` is given, the journal of each call is written to
    that folder."""
    for case in suite.cases:
        for number in range(1, case.runs + 1):
            name = f"{suite.cases.index(case) + 1}-{number}.jsonl"
            journal = journals / name if journals is not None else None
            yield await run_case(case, agent, models, number, seed, journal)


async def run_case(
    case: EvalCase, agent: AgentOrMaker, models: EvalModels, number: int, seed: int, journal: Path | None = None
) -> EvalRun:
    """Make one call. If the agent or a model raises an exception, it becomes the `error` of the run."""
    run = EvalRun(case.name, number, seed + number - 1, journal=journal)
    try:
        async with LiveCall(agent, journal=journal) as call:
            turns, error = await _talk(call, case, models.caller, random.Random(f"{run.seed} {case.name}"))
            broken = tuple(broken_assertions(call, case.expect))
            transcript, duration_ms = transcript_of(call), call.now_ms
    except Exception as failure:  # noqa: BLE001 - whatever fails, the other runs go on
        return EvalRun(case.name, number, run.seed, error=f"{type(failure).__name__}: {failure}", journal=journal)
    judgement = await judge(models.judge, case.rubric, transcript)
    return EvalRun(
        case.name, number, run.seed, turns, duration_ms, broken, judgement, transcript, error, journal=journal
    )


async def _talk(call: LiveCall, case: EvalCase, brain: Brain, chance: random.Random) -> tuple[int, str]:
    """Let the caller and the agent talk. Returns how many turns the caller had, and why the talk failed; this reason is
    empty if the talk didn't fail."""
    caller = EvalCaller(brain, case)
    told = 0
    for turn in range(1, case.turns_max + 1):
        if await _has_ended(call):
            return turn - 1, ""
        heard = call.heard[told:]
        told = len(call.heard)
        try:
            said = await _unless_over(call, caller.says(" ".join(heard)))
            if said is None:
                return turn - 1, ""
            words, is_last = said
            if words:
                await call.says(words)
            if not is_last and chance.random() < case.interrupts:
                is_last = await _interrupt(call, caller)
        except EvalModelFailed as problem:
            return turn - 1, f"the caller's model failed: {problem}"
        if await _has_ended(call) or is_last:
            return turn, ""
    return case.turns_max, f"the caller had not finished after {case.turns_max} turns"


async def _unless_over(call: LiveCall, thinking: Coroutine[Any, Any, tuple[str, bool]]) -> tuple[str, bool] | None:
    """What the caller says next; None if the agent hangs up before the caller's model has answered."""
    model, end = asyncio.create_task(thinking), asyncio.create_task(call.conversation.wait())
    try:
        await asyncio.wait((model, end), return_when=asyncio.FIRST_COMPLETED)
        return None if call.is_over else await model
    finally:
        for task in (model, end):
            task.cancel()
        await asyncio.gather(model, end, return_exceptions=True)


async def _has_ended(call: LiveCall) -> bool:
    """Wait until no answer is pending. If the agent is about to end the call, wait for the end, too: the caller's model
    couldn't answer in time. Returns whether the call is over."""
    await call.settles()
    await call.until(lambda: not call.is_about_to_end)
    return call.is_over


async def _interrupt(call: LiveCall, caller: EvalCaller) -> bool:
    """Wait until the agent's answer has played for INTERRUPT_AFTER_MS, then let the caller talk over it. Does nothing
    and returns False if the answer ends before that. Otherwise returns whether these were the caller's last words."""
    await call.until(lambda: call.line.heard_ms >= INTERRUPT_AFTER_MS or call.is_at_rest)
    if call.is_at_rest:
        return False
    words, is_last = await caller.says(" ".join(word.text for word in call.sounded_words[-5:]) + " …")
    if words and not call.is_over:
        await call.says(words)
    return is_last
