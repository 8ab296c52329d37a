"""Dialogues up to what matters: the abstraction that makes their states few enough to visit all.

`fold` maps a state to the simplest one that behaves the same; the result is an ordinary state, so the real `step`
runs on it. Rule: nothing that decides where a dialogue goes may be lost here; what is lost is listed in ABSTRACTION.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from duologue.dialogue.commands import CorrectSlot, SetSlot
from duologue.dialogue.stack import PROGRAM
from duologue.dialogue.state import DialogueState, DialogueTrouble, Filled, Instance, Phase, Slots
from duologue.dialogue.unconfirmed_values import ANNOUNCED, PICKED_OUT

# A yes that was given and not used up: the instance, the step that asked for it, the action that may use it.
Yes: TypeAlias = tuple[int, str, str]
Given: TypeAlias = frozenset[Yes]

ABSTRACTION: tuple[tuple[str, str], ...] = (
    ("messages, trace, turn_count, last_nlu_call", "forgotten: nothing looks at them"),
    ("timestamps", "always 0"),
    ("requests, pending", "1 while somebody works, else 0; a stale answer is one of request 99"),
    ("instance ids", "their places in the stack"),
    ("runs", "1 while an action has begun and is not done, else 0: keys are compared within a step"),
    ("acts", "always 0: that they are bounded is tested by hand"),
    ("visited, confirmed", "in the order of the alphabet: only membership counts"),
    ("kept", "forgotten: judged in the step that fills it"),
    ("a slot's raw text, span, turn", "forgotten; its value stays: one of two for each slot"),
    ("the source of a value", "the program, a part of a message that may be objected to, or anything else"),
    ("whether a value was said yes to", "forgotten; one that was may not be objected to any more"),
    ("last_response", "there or not, and whether it ended in the question"),
    ("heard", "there or not; the message only while it is understood and in an error"),
    ("the message of an error", "forgotten; its type and where to go on stay"),
    ("stack", "NLU starts a flow only while fewer than two are open; flows that call go deeper"),
    ("queue", "at most one message that came while somebody worked"),
)


def fold(state: DialogueState) -> DialogueState:
    """The representative of everything that behaves like this state."""
    return replace(
        state,
        stack=tuple(_instance(place, one) for place, one in enumerate(state.stack, start=1)),
        kept=(),
        values=tuple(_value(value) for value in state.values),
        pending=1 if state.pending else 0,
        requests=1,
        instances=len(state.stack),
        acts=0,
        heard="heard" if state.heard and state.phase in (Phase.UNDERSTANDING, Phase.ERROR) else "",
        messages=(),
        turn_count=0,
        last_response=_response(state),
        last_nlu_call=None,
        trouble=state.trouble and DialogueTrouble(state.trouble.type, "", 0, state.trouble.recovery),
        trace=(),
    )


def _response(state: DialogueState) -> str:
    if state.last_response and state.last_response.endswith(state.last_question):
        return state.last_question or "said"
    return "said" if state.last_response else ""


def fold_given(state: DialogueState, given: Given) -> Given:
    """The same for what was said yes to: only of flows that are still open."""
    places = {one.id: place for place, one in enumerate(state.stack, start=1)}
    return frozenset((places[owner], step, act) for owner, step, act in given if owner in places)


def _instance(place: int, one: Instance) -> Instance:
    return replace(
        one,
        id=place,
        slots=_slots(one.slots),
        visited=tuple(sorted(set(one.visited))),
        confirmed=tuple(sorted(set(one.confirmed))),
        runs=1 if one.is_acting else 0,
    )


def _slots(slots: Slots) -> Slots:
    return tuple(sorted((name, _filled(filled)) for name, filled in slots))


def _filled(filled: Filled) -> Filled:
    return Filled(filled.value, source="" if filled.confirmed else _source(filled.source))


def _value(value: SetSlot | CorrectSlot) -> SetSlot | CorrectSlot:
    return type(value)(value.slot, value.value, source=_source(value.source))


def _source(source: str) -> str:
    return source if source in (PROGRAM, PICKED_OUT, ANNOUNCED) else ""
