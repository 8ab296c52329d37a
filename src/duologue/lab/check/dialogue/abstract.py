"""Reduces the number of dialogue states so much that all of them can be visited.

`fold` maps a state to the simplest state that behaves the same. The result is an ordinary state, so the real `step`
runs on it. Rule: nothing that influences the course of a dialogue may be dropped. ABSTRACTION lists what is dropped.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from duologue.dialogue.commands import CorrectSlot, SetSlot
from duologue.dialogue.records import changed
from duologue.dialogue.stack import PROGRAM
from duologue.dialogue.state import DialogueState, DialogueTrouble, Filled, Instance, Phase, Slots
from duologue.dialogue.unconfirmed_values import ANNOUNCED, PICKED_OUT

# An unused confirmation: the flow instance, the step that asked for it, and the action that may use it.
Yes: TypeAlias = tuple[int, str, str]
Given: TypeAlias = frozenset[Yes]

ABSTRACTION: tuple[tuple[str, str], ...] = (
    ("messages, trace, turn_count, last_nlu_call", "dropped: nothing depends on them"),
    ("timestamps", "always 0"),
    ("requests, pending", "1 while a request is running, else 0; a stale answer has request 99"),
    ("instance ids", "positions in the stack"),
    ("runs", "1 while an action is running, else 0: keys are compared within a step"),
    ("acts", "always 0: the limit has its own test"),
    ("visited, confirmed", "in alphabetical order: only membership counts"),
    ("kept", "dropped, except for session slots; the step that fills a slot is checked"),
    (
        "the turn of the last list reply that wasn't wholly understood",
        "this turn or none, because turn numbers are dropped",
    ),
    ("ended", "kept while nothing is open; ended_turn is 0, so a task that ended stays correctable"),
    ("a slot's raw text, span, turn", "dropped; the value stays, and each slot has two possible values"),
    ("the source of a value", "three sources: the program; a message that was partly understood; any other"),
    ("whether a value was confirmed", "dropped; a confirmed value counts as accepted"),
    ("last_response", "present or not, and whether it ended in the question"),
    ("heard", "present or not; the text is kept only while NLU works on it, and in an error"),
    ("the message of an error", "dropped; the type and the recovery phase of the error stay"),
    ("stack", "NLU starts a flow only while fewer than two are open; a flow may still call others"),
    ("queue", "at most one message"),
)


class HashableList(list[Any]):
    """A list that is never changed and has a hash, so that a state that contains it can be the key of a dict."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))


class HashableDict(dict[str, Any]):
    """A dict that is never changed and has a hash."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def _frozen(value: Any) -> Any:
    """The same value, with a HashableList for each list and a HashableDict for each dict."""
    if isinstance(value, list | tuple):
        return HashableList(map(_frozen, value))
    return HashableDict({key: _frozen(part) for key, part in value.items()}) if isinstance(value, dict) else value


def fold(state: DialogueState, session: frozenset[str] = frozenset()) -> DialogueState:
    """The simplest state that behaves like this one. States that behave the same give the same result. `session` has
    the names of the slots whose values are kept for later tasks."""
    return changed(
        state,
        {
            "stack": tuple(_instance(place, one) for place, one in enumerate(state.stack, start=1)),
            "kept": _slots(tuple((name, filled) for name, filled in state.kept if name in session)),
            "ended": _instance(1, state.ended) if state.ended is not None and not state.stack else None,
            "ended_turn": 0,
            "values": tuple(_value(value) for value in state.values),
            "pending": 1 if state.pending else 0,
            "requests": 1,
            "instances": len(state.stack),
            "acts": 0,
            "heard": "heard" if state.heard and state.phase in (Phase.UNDERSTANDING, Phase.ERROR) else "",
            "messages": (),
            "turn_count": 0,
            "last_response": _response(state),
            "last_nlu_call": None,
            "trouble": state.trouble and DialogueTrouble(state.trouble.type, "", 0, state.trouble.recovery),
            "trace": (),
        },
    )


def _response(state: DialogueState) -> str:
    if state.last_response and state.last_response.endswith(state.last_question):
        return state.last_question or "said"
    return "said" if state.last_response else ""


def fold_given(state: DialogueState, given: Given) -> Given:
    """The unused confirmations of flows that are still open. Each flow is identified by its position in the stack
    instead of its instance id."""
    places = {one.id: place for place, one in enumerate(state.stack, start=1)}
    return frozenset((places[owner], step, act) for owner, step, act in given if owner in places)


def _instance(place: int, one: Instance) -> Instance:
    return changed(
        one,
        {
            "id": place,
            "slots": _slots(one.slots),
            "visited": tuple(sorted(set(one.visited))),
            "confirmed": tuple(sorted(set(one.confirmed))),
            "runs": 1 if one.is_acting else 0,
            "lists": tuple((name, Filled(_frozen(filled.value))) for name, filled in one.lists),
        },
    )


def _slots(slots: Slots) -> Slots:
    return tuple(sorted(((name, _filled(filled)) for name, filled in slots), key=lambda entry: entry[0]))


def _filled(filled: Filled) -> Filled:
    return Filled(_frozen(filled.value), source="" if filled.confirmed else _source(filled.source))


def _value(value: SetSlot | CorrectSlot) -> SetSlot | CorrectSlot:
    return type(value)(value.slot, _frozen(value.value), source=_source(value.source))


def _source(source: str) -> str:
    return source if source in (PROGRAM, PICKED_OUT, ANNOUNCED) else ""
