"""The state of a dialogue: which flows are open, what is filled, what is being waited for (D-01, D-02).

A frozen record of plain values, so that it can be compared, explored and written down. Rule: a slot that is not
there is unfilled, and nothing else is: 0, False and an empty text are answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from .commands import CorrectSlot, SetSlot
from .english import Json
from .records import changed

MESSAGES_MAX = 50
TRACE_MAX = 100


class Phase(StrEnum):
    """What a dialogue is doing."""

    IDLE = "idle"
    UNDERSTANDING = "understanding"
    WAITING_FOR_SLOT = "waiting_for_slot"
    VALIDATING_SLOT = "validating_slot"
    EXECUTING_ACTION = "executing_action"
    CONFIRMING = "confirming"
    COMPLETED = "completed"
    ERROR = "error"


# Somebody else is working; what is said meanwhile waits.
BUSY = (Phase.UNDERSTANDING, Phase.VALIDATING_SLOT, Phase.EXECUTING_ACTION)


@dataclass(frozen=True, slots=True)
class Filled:
    """What a slot holds, and how it got there."""

    value: Json
    raw: str = ""
    span: tuple[int, int] = (0, 0)
    source: str = "grammar"
    confirmed: bool = False
    turn: int = 0


Slots: TypeAlias = tuple[tuple[str, Filled], ...]


def put(slots: Slots, name: str, filled: Filled) -> Slots:
    """With this slot filled, in the place where it was."""
    if any(key == name for key, _ in slots):
        return tuple((key, filled if key == name else value) for key, value in slots)
    return (*slots, (name, filled))


def without(slots: Slots, names: frozenset[str]) -> Slots:
    return tuple((key, value) for key, value in slots if key not in names)


def values_of(slots: Slots) -> dict[str, Json]:
    return {name: filled.value for name, filled in slots}


@dataclass(frozen=True, slots=True)
class Instance:
    """A flow that was started. `at` is a place in its program."""

    id: int
    flow: str
    at: int = 0
    slots: Slots = ()
    visited: tuple[str, ...] = ()  # steps that were taken
    asked: tuple[str, ...] = ()  # slots that were asked for, in order
    confirmed: tuple[str, ...] = ()  # steps that were said yes to
    runs: int = 0  # actions begun so far
    is_acting: bool = False  # one of them has begun and is not done
    needs: tuple[str, ...] = ()  # slots that the action wants first
    confirm: str = ""  # a question that it wants answered by yes
    failed: bool = False  # the action at this step has failed, and nobody has said what to do about it
    called: bool = False  # by the flow below, which goes on when this one is over

    def filled(self, name: str) -> Filled | None:
        return next((value for key, value in self.slots if key == name), None)


def tasks_of(stack: tuple[Instance, ...]) -> list[tuple[Instance, ...]]:
    """The stack, cut before every flow that was not called by the one below it."""
    tasks: list[tuple[Instance, ...]] = []
    for one in stack:
        if one.called and tasks:
            tasks[-1] = (*tasks[-1], one)
        else:
            tasks.append((one,))
    return tasks


@dataclass(frozen=True, slots=True)
class DialogueMessage:
    role: str  # user or assistant
    content: str
    timestamp: int  # in milliseconds


@dataclass(frozen=True, slots=True)
class TraceEvent:
    event: str
    timestamp: int
    data: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DialogueTrouble:
    """What went wrong, and where to go on when it is over (D-11)."""

    type: str
    message: str
    at: int
    recovery: Phase


@dataclass(frozen=True, slots=True)
class DialogueState:
    """One dialogue."""

    phase: Phase = Phase.IDLE
    stack: tuple[Instance, ...] = ()  # the open flow last
    kept: Slots = ()  # of flows that have ended, for reference
    waiting_for: str | None = None
    among: tuple[Json, ...] = ()  # candidates of an ambiguous answer that were asked about
    reading_back: bool = False  # the question is whether a code was heard right
    unproposed: bool = False  # what the question proposed was denied
    misses: int = 0  # replies in a row that were not understood
    silences: int = 0  # in a row
    tries: int = 0  # how often the open question was asked in vain: missed, met by silence, or its answer refused
    values: tuple[SetSlot | CorrectSlot, ...] = ()  # understood, to be validated; the first is at it
    pending: int = 0  # the request that is being waited for; 0: none
    requests: int = 0
    instances: int = 0
    acts: int = 0  # actions since somebody said something
    heard: str = ""  # the message that is being understood
    is_aside: bool = False  # it was said while somebody worked, before the open question was asked
    queue: tuple[str, ...] = ()  # messages that came meanwhile
    messages: tuple[DialogueMessage, ...] = ()
    turn_count: int = 0
    last_response: str = ""
    last_question: str = ""
    last_nlu_call: int | None = None
    trouble: DialogueTrouble | None = None
    trace: tuple[TraceEvent, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def top(self) -> Instance | None:
        """The open flow."""
        return self.stack[-1] if self.stack else None

    @property
    def current_flow(self) -> str:
        return self.stack[-1].flow if self.stack else "none"

    @property
    def slots(self) -> dict[str, Json]:
        """Everything that is filled: of the open flow, of those below it, and of those that have ended."""
        found = values_of(self.kept)
        for instance in self.stack:
            found |= values_of(instance.slots)
        return found


def with_top(state: DialogueState, **changes: object) -> DialogueState:
    """With the open flow changed."""
    assert state.stack, state
    return changed(state, {"stack": (*state.stack[:-1], changed(state.stack[-1], changes))})
