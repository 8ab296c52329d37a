"""Flows as data: slots to be filled, and steps compiled to a flat program.

A program is a tuple of instructions with stable names; branches and loops are jumps. Rule: everything is
checked when it is compiled, so that running a flow can't meet a name that doesn't exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from .conditions import Condition
from .english import Choice, NameList, SlotKind
from .english import Slot as Asked
from .english.readings import DAYTIME_HOURS


@dataclass(frozen=True, slots=True)
class SlotSpec:
    """What is to be filled, how it is asked for and what is checked before it is written."""

    name: str
    kind: SlotKind
    prompt: str
    reprompts: tuple[str, ...] = ()  # after a reply that was not understood, one after the other
    silence_prompts: tuple[str, ...] = ()  # after no reply at all
    help: str = ""
    validator: str = ""
    normaliser: str = ""
    choices: tuple[Choice, ...] = ()
    names: NameList | None = None
    is_open: bool = True  # a name may be one that the list doesn't have
    hours: tuple[int, int] = DAYTIME_HOURS
    is_past: bool = False
    depends_on: tuple[str, ...] = ()
    ask_before_filling: bool = False  # never taken from a message that answered something else
    is_optional: bool = False
    prefers: str = "ask"  # of several values that it may mean: ask, or the first or the last of them
    reads_back: bool = False  # a code is said again, sign by sign, and confirmed
    barge_in: bool = True
    label: str = ""  # what people call it; its name, if not given
    is_future: bool = False  # a day that has passed, or a time of today that has, is refused

    @property
    def called(self) -> str:
        return self.label or self.name.replace("_", " ")

    @property
    def asked(self) -> Asked:
        """The slot as the grammars know it."""
        return Asked(
            self.name,
            self.kind,
            self.choices,
            self.names,
            self.is_open,
            self.hours,
            self.is_past,
            may_be_any=self.is_optional,
        )


# -- Instructions. Each has the name of its step; `then` and the like are places in the program.


@dataclass(frozen=True, slots=True)
class Collect:
    """Ask for a slot unless it is filled. `proposed`: a value to be offered, from a slot or as it is."""

    step: str
    slot: str
    prompt: str = ""  # instead of the slot's own
    proposed: str = ""  # the slot that holds the value to propose


@dataclass(frozen=True, slots=True)
class SayText:
    step: str
    text: str
    barge_in: bool = True


@dataclass(frozen=True, slots=True)
class Assign:
    """Write values that are known without asking; None empties a slot."""

    step: str
    values: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Jump:
    step: str
    to: int


@dataclass(frozen=True, slots=True)
class JumpUnless:
    """Go on if the condition holds, else go there."""

    step: str
    condition: Condition
    to: int


@dataclass(frozen=True, slots=True)
class PerformAction:
    """Run an action with these slots (all of the flow's, if none are named) and keep what it returns."""

    step: str
    action: str
    slots: tuple[str, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()  # (what it returns, the slot that it goes to)
    waiting: str = ""  # said while it runs
    on_failure: int | None = None  # where to go if it fails; None: to the error


@dataclass(frozen=True, slots=True)
class Confirm:
    """Ask for a yes. A no goes to `on_no`, or cancels the flow."""

    step: str
    text: str
    on_no: int | None = None
    barge_in: bool = True


@dataclass(frozen=True, slots=True)
class CallFlow:
    """Run another flow, then go on here."""

    step: str
    flow: str
    gives: tuple[tuple[str, str], ...] = ()  # (our slot, its slot)
    takes: tuple[tuple[str, str], ...] = ()  # (its slot, our slot)


@dataclass(frozen=True, slots=True)
class LinkFlow:
    """Go over to another flow for good."""

    step: str
    flow: str


@dataclass(frozen=True, slots=True)
class End:
    step: str = "end"


Instruction: TypeAlias = (
    Collect | SayText | Assign | Jump | JumpUnless | PerformAction | Confirm | CallFlow | LinkFlow | End
)


@dataclass(frozen=True, slots=True)
class Flow:
    """One task."""

    name: str
    description: str
    program: tuple[Instruction, ...]
    examples: tuple[str, ...] = ()
    completed: str = ""  # said at its end
    is_hidden: bool = False  # only for other flows: nobody starts it by asking
    places: Mapping[str, int] = field(default_factory=dict)  # step -> its first instruction

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots that it asks for, in order."""
        return tuple(dict.fromkeys(at.slot for at in self.program if isinstance(at, Collect)))


@dataclass(frozen=True, slots=True)
class Patterns:
    """What is said on occasions that every flow has. {flow}, {slot} and {value} are filled in."""

    help: str = "I can help you with: {flows}."
    help_open: str = "You can answer, say go back, or cancel."
    cancelled: str = "All right, let's leave it."  # never that something is cancelled: it may have been a booking
    restarted: str = "All right, from the beginning."
    nothing_to_cancel: str = "There is nothing to cancel."
    corrected: str = "Got it, I've updated your {slot} to {value}."
    back_to: str = "Back to where we were."
    greeting: str = "Hello!"
    thanks: str = "You're welcome."
    assent: str = "All right."
    farewell: str = "Goodbye!"
    chit_chat: str = "I'm afraid I can only help with my tasks."
    handoff: str = "I'll put you through to a person."
    skipped: str = "All right, we leave that out."
    not_skippable: str = "I need this one to go on."
    wait: str = "Take your time."
    nothing_before: str = "This is where we began."
    invalid: str = "That {slot} doesn't work."
    passed: str = "That day has passed."
    too_late: str = "It is later than that already."
    ambiguous: str = "Did you mean {value}?"
    reprompt: str = "Sorry, I didn't get that."
    silence: str = "Are you still there?"
    read_back: str = "I have {value}. Is that right?"
    noted: str = "So far I have {slots}."  # of a message that was understood in part
    check: str = "I have {slots}. Is that right?"  # the same, where an action would be next
    which: str = "I can't tell whether you mean {slots}."  # a new value that two slots may have
    not_understood: str = "Sorry, I didn't understand."
    busy: str = "One moment, please. I could not take that in yet."
    gave_up: str = "I'm sorry, I could not get that. Let's leave it here."
    failed: str = "I encountered an error. Say retry to try again, or cancel."
    unsure: str = "I was interrupted and can't tell whether that went through. I am checking. Say retry or cancel."
    unconfirmed: str = "Please say yes or no."
    completed: str = ""
    ended: str = "That's done."  # of a flow that has nothing else to say


@dataclass(frozen=True, slots=True)
class Domain:
    """Everything that a file of flows says."""

    flows: Mapping[str, Flow]
    slots: Mapping[str, SlotSpec]
    patterns: Patterns = Patterns()
    misses_max: int = 3  # replies in a row that were not understood, before it is given up
    gives_up_by: str = "cancel"  # or handoff
    tries_max: int = 5  # replies to one question that led nowhere, for whatever reason, before it is given up
    queue_max: int = 10  # messages that wait while somebody works; more are refused
    time_zone: str = ""  # whose "tomorrow" is meant; empty: that of the machine

    @property
    def offered(self) -> tuple[Flow, ...]:
        """The flows that people may ask for."""
        return tuple(flow for flow in self.flows.values() if not flow.is_hidden)
