"""The state of a dialogue: open flows, filled slots, and what the dialogue waits for.

The state is a frozen record of plain values, so it can be compared, explored and saved. Rule: a slot is unfilled only
if the state has no entry for it; 0, False and an empty text are values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from .commands import CorrectSlot, SetSlot
from .language.readings import Json
from .records import changed

MESSAGES_MAX = 50
TRACE_MAX = 100


class Phase(StrEnum):
    """What a dialogue is doing now, for example waiting for the value of a slot or running an action."""

    IDLE = "idle"
    UNDERSTANDING = "understanding"
    WAITING_FOR_SLOT = "waiting_for_slot"
    VALIDATING_SLOT = "validating_slot"
    EXECUTING_ACTION = "executing_action"
    CONFIRMING = "confirming"
    COMPLETED = "completed"
    ERROR = "error"


# In these phases a request is running, and new messages are queued.
BUSY = (Phase.UNDERSTANDING, Phase.VALIDATING_SLOT, Phase.EXECUTING_ACTION)


@dataclass(frozen=True, slots=True)
class Filled:
    """A slot's value, and where it comes from."""

    value: Json
    raw: str = ""
    span: tuple[int, int] = (0, 0)
    source: str = "grammar"
    confirmed: bool = False
    turn: int = 0


Slots: TypeAlias = tuple[tuple[str, Filled], ...]


def put(slots: Slots, name: str, filled: Filled) -> Slots:
    """The slots, with the slot `name` set to `filled`. If the slot was filled before, it keeps its position."""
    if any(key == name for key, _ in slots):
        return tuple((key, filled if key == name else value) for key, value in slots)
    return (*slots, (name, filled))


def without(slots: Slots, names: frozenset[str]) -> Slots:
    return tuple((key, value) for key, value in slots if key not in names)


def values_of(slots: Slots) -> dict[str, Json]:
    return {name: filled.value for name, filled in slots}


@dataclass(frozen=True, slots=True)
class Instance:
    """A flow that was started. `at` is the index of its current instruction."""

    id: int
    flow: str
    at: int = 0
    slots: Slots = ()
    visited: tuple[str, ...] = ()  # steps taken so far
    asked: tuple[str, ...] = ()  # slots asked for, in order
    confirmed: tuple[str, ...] = ()  # steps that the user said yes to
    runs: int = 0  # actions started so far
    is_acting: bool = False  # an action was started and isn't done
    needs: tuple[str, ...] = ()  # slots that the action requested
    confirm: str = ""  # the confirmation question that the action requested
    failed: bool = False  # the action of this step failed, and the user hasn't decided what to do
    called: bool = False  # called by the flow below, which continues when this one ends
    denied: bool = False  # the user said no to the open confirmation, and is asked what to change
    done: tuple[str, ...] = ()  # steps whose final action has succeeded
    lists: Slots = ()  # lists that aren't finished, by slot
    repairs: str = ""  # the occasion that this flow handles: no_match, no_input, cancel, help, handoff, correction
    counts: tuple[int, int, int] = (0, 0, 0)  # misses, silences and tries of the question that this flow interrupted

    def filled(self, name: str) -> Filled | None:
        return next((value for key, value in self.slots if key == name), None)


def tasks_of(stack: tuple[Instance, ...]) -> list[tuple[Instance, ...]]:
    """The stack grouped into tasks. Each flow that wasn't called by the flow below it begins a new task."""
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
    """What went wrong, and the phase to return to on a retry."""

    type: str
    message: str
    at: int
    recovery: Phase


@dataclass(frozen=True, slots=True)
class DialogueState:
    """The complete state of one dialogue."""

    phase: Phase = Phase.IDLE
    stack: tuple[Instance, ...] = ()  # the open flow last
    kept: Slots = ()  # slots of ended flows, for reference
    ended: Instance | None = None  # the task that ended last; the user may still correct it for a few turns
    ended_turn: int = 0
    waiting_for: str | None = None
    among: tuple[Json, ...] = ()  # the candidates of an ambiguous answer, while the user is asked which one was meant
    reading_back: bool = False  # the open question is whether a code was heard right
    unproposed: bool = False  # the user refused the value that the question proposed
    misses: int = 0  # consecutive replies not understood
    silences: int = 0  # consecutive times that the user didn't reply
    tries: int = 0  # failed attempts at the open question: misses, silences and refused answers
    values: tuple[SetSlot | CorrectSlot, ...] = ()  # values to be validated; the first one is being validated
    pending: int = 0  # the number of the running request; 0: no request
    requests: int = 0
    instances: int = 0
    acts: int = 0  # actions run since the last user message
    heard: str = ""  # the message that NLU is working on
    is_aside: bool = False  # the message in `heard` arrived before the open question was asked
    is_doubtful: bool = False  # the message that a request is running for was heard with low confidence
    queue: tuple[str, ...] = ()  # messages that arrived while a request was running
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
        """The open flow; None if no flow is open."""
        return self.stack[-1] if self.stack else None

    @property
    def current_flow(self) -> str:
        return self.stack[-1].flow if self.stack else "none"

    @property
    def slots(self) -> dict[str, Json]:
        """The values of all filled slots in open and ended flows. If several flows have the same slot, a value from an
        open flow is preferred to a value from an ended flow. Among open flows, the flow that is highest on the stack
        decides."""
        found = values_of(self.kept)
        for instance in self.stack:
            found |= values_of(instance.slots)
        return found


def with_top(state: DialogueState, **changes: object) -> DialogueState:
    """A copy of the state in which these fields of the open flow are changed."""
    assert state.stack, state
    return changed(state, {"stack": (*state.stack[:-1], changed(state.stack[-1], changes))})
