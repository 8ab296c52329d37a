"""Explains how a message is understood: which interpreters were tried, which interpreter took the message, and what the
message led to.

The message is played on a copy of a dialogue, without NLU and without functions. Rule: the explanation is made by the
same interpreters that conversations use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from duologue.core.errors import DuologueError
from duologue.dialogue.answers import QUESTION
from duologue.dialogue.confirmation import CONFIRMATION
from duologue.dialogue.effects import Respond, Understand
from duologue.dialogue.events import FlowRequested, UserMessage, Validated
from duologue.dialogue.flow import Collect, Domain
from duologue.dialogue.idle_messages import IDLE
from duologue.dialogue.interpreters import Interpreter
from duologue.dialogue.language.readings import Json
from duologue.dialogue.machine import step
from duologue.dialogue.state import DialogueState, Phase

from .problems import hint

_LADDERS: dict[Phase, tuple[Interpreter[Any], ...]] = {
    Phase.IDLE: IDLE,
    Phase.WAITING_FOR_SLOT: QUESTION,
    Phase.CONFIRMING: CONFIRMATION,
}
_STEPS_MAX = 20


@dataclass(frozen=True, slots=True)
class Tried:
    """One interpreter, and whether this interpreter took the message."""

    name: str
    about: str
    took: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a message was understood. `tried` lists the interpreters up to and including the one that took the
    message."""

    phase: str
    question: str
    tried: tuple[Tried, ...]
    filled: dict[str, Json]  # the slots that the message filled or changed
    said: str
    asks_nlu: bool


def explain(domain: Domain, text: str, today: str, slot: str = "") -> Explanation:
    """Explain how `text` is understood as the answer to the question for `slot`. If `slot` is empty, explain how it is
    understood while no question is open. Validators aren't called; every value is treated as valid. Raises
    DuologueError if no flow asks for the slot."""
    state = _at_question(domain, slot) if slot else DialogueState()
    state = replace(state, trace=())
    after, effects = step(domain, state, UserMessage(text, 0, today))
    for _ in range(_STEPS_MAX):
        if after.phase is not Phase.VALIDATING_SLOT or not after.values:
            break
        after, more = step(domain, after, Validated(after.pending, after.values[0].value, 0))
        effects = (*effects, *more)
    by = next((dict(line.data)["by"] for line in after.trace if line.event == "interpreted"), "")
    before = state.slots
    return Explanation(
        state.phase.value,
        state.last_question,
        tuple(_tried(_LADDERS.get(state.phase, ()), by)),
        {name: value for name, value in after.slots.items() if name not in before or before[name] != value},
        " ".join(effect.text for effect in effects if isinstance(effect, Respond)),
        any(isinstance(effect, Understand) for effect in effects),
    )


def _tried(ladder: tuple[Interpreter[Any], ...], by: str) -> list[Tried]:
    found: list[Tried] = []
    for one in ladder:
        found.append(Tried(one.name, one.about, one.name == by))
        if one.name == by:
            break
    return found


def _at_question(domain: Domain, slot: str) -> DialogueState:
    """The state of a dialogue that has just asked for the slot."""
    flow = next((one for one in domain.flows.values() if slot in one.slots), None)
    if flow is None:
        asked = tuple(dict.fromkeys(name for one in domain.flows.values() for name in one.slots))
        raise DuologueError(f"no flow asks for slot {slot!r}{hint(slot, asked)}")
    place = next(at for at, one in enumerate(flow.program) if isinstance(one, Collect) and one.slot == slot)
    only = replace(flow, program=(flow.program[place], *flow.program[place + 1 :]))
    state, _ = step(
        replace(domain, flows={**domain.flows, flow.name: only}), DialogueState(), FlowRequested(flow.name, 0)
    )
    assert state.top is not None, state
    return replace(state, stack=(replace(state.top, at=place),))
