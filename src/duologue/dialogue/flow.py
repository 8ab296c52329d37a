"""Flows as data: the slots to fill, and the steps, compiled to a flat program.

A program is a tuple of instructions. Branches and loops are jumps. Each instruction carries the name of its step, which
stays the same when other steps are added. Rule: all names are checked when a flow is compiled, so a running flow never
meets a name that doesn't exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from .conditions import Condition
from .english.names import NameList
from .language.pack import LanguagePack, ListReaders
from .language.packs import pack_of
from .language.readings import DAYTIME_HOURS, Choice, SlotKind
from .language.readings import Slot as GrammarSlot
from .templates import Wording, first_of


@dataclass(frozen=True, slots=True)
class SlotSpec:
    """A slot: how it is asked for, read and validated."""

    name: str
    kind: SlotKind
    prompt: Wording
    reprompts: tuple[str, ...] = ()  # said in turn after replies that were not understood
    silence_prompts: tuple[str, ...] = ()  # said in turn when the user doesn't reply
    help: str = ""
    validator: str = ""
    normaliser: str = ""
    choices: tuple[Choice, ...] = ()
    names: NameList | None = None
    is_open: bool = True  # names that aren't on the list are accepted too
    hours: tuple[int, int] = DAYTIME_HOURS
    is_past: bool = False
    depends_on: tuple[str, ...] = ()
    ask_before_filling: bool = False  # filled only after its question was asked
    is_optional: bool = False
    prefers: str = "ask"  # for an ambiguous value: ask, or take the first or the last candidate
    reads_back: bool = False  # a code is repeated to the user character by character and confirmed
    barge_in: bool = True
    label: str = ""  # what users call the slot; default: its name
    is_future: bool = False  # a past day, or a past time of today, is refused
    choices_from: str = ""  # the slot that holds the choices: a list that an action returned
    is_session: bool = False  # a value that was given in an earlier task of the conversation is used again
    items: tuple[str, ...] = ()  # for a list: the slots that make up an item
    item_text: str = ""  # how an item is said; default: its values, one after the other
    items_min: int = 1
    items_max: int = 0
    more: Wording = ""  # the question after an item; default: the pattern `more`
    pattern: str = ""  # a regular expression that a value has to match as a whole
    rephrase: bool = False  # a language model may put the question in other words
    language: str = "en"  # of the texts

    @property
    def display_name(self) -> str:
        return self.label or self.name.replace("_", " ")

    @property
    def grammar_slot(self) -> GrammarSlot:
        """What the grammars need to know about this slot."""
        return GrammarSlot(
            self.name,
            self.kind,
            self.choices,
            self.names,
            self.is_open,
            self.hours,
            self.is_past,
            may_be_any=self.is_optional,
            is_birth=self.is_past
            and pack_of(self.language).signs.is_about_birth(self.name, self.label, first_of(self.prompt)),
        )

    @property
    def item_flow(self) -> str:
        """The name of the hidden flow that asks for the values of one item of the list. No flow in a flow file can have
        this name."""
        return f"{self.name}.item"


# -- Instructions. Each has the name of its step; `to`, `on_no` and `on_failure` are indexes in the program.


@dataclass(frozen=True, slots=True)
class Collect:
    """Ask for a slot, unless it is already filled."""

    step: str
    slot: str
    prompt: Wording = ""  # replaces the slot's own prompt
    proposed: str = ""  # the slot that holds the value to propose


@dataclass(frozen=True, slots=True)
class SayText:
    step: str
    text: Wording
    barge_in: bool = True
    rephrase: bool = False  # a language model may put it in other words


@dataclass(frozen=True, slots=True)
class Assign:
    """Write values into slots without asking the user. The value None empties a slot."""

    step: str
    values: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Jump:
    step: str
    to: int


@dataclass(frozen=True, slots=True)
class JumpUnless:
    """Continue with the next instruction if the condition holds; otherwise jump to `to`."""

    step: str
    condition: Condition
    to: int


@dataclass(frozen=True, slots=True)
class PerformAction:
    """Run an action with these slots (default: all filled slots of the flow) and store its results."""

    step: str
    action: str
    slots: tuple[str, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()  # (name of a result, slot to store it in)
    waiting: str = ""  # said while the action runs
    on_failure: int | None = None  # where to continue if the action fails; None: enter the error phase
    is_final: bool = False  # what was done can't be undone: a later change never runs the action a second time
    on_change: str = ""  # the flow that is offered if the user changes a value after the action


@dataclass(frozen=True, slots=True)
class Confirm:
    """Ask for a yes. A no jumps to `on_no`, or cancels the flow if `on_no` is None."""

    step: str
    text: Wording
    on_no: int | None = None
    barge_in: bool = True


@dataclass(frozen=True, slots=True)
class CallFlow:
    """Run another flow, then continue here."""

    step: str
    flow: str
    gives: tuple[tuple[str, str], ...] = ()  # (slot of this flow, slot of the called flow): copied before the call
    takes: tuple[tuple[str, str], ...] = ()  # (slot of the called flow, slot of this flow): copied after the call


@dataclass(frozen=True, slots=True)
class LinkFlow:
    """Switch to another flow without coming back. If both flows ask for the same slot, its value is passed on."""

    step: str
    flow: str
    gives: tuple[tuple[str, str], ...] = ()  # (slot of this flow, slot of the other flow): also passed on


@dataclass(frozen=True, slots=True)
class HandOff:
    """Hand the conversation over to a person."""

    step: str
    reason: str  # for the person, not said; may have gaps


@dataclass(frozen=True, slots=True)
class AnswerFromFaq:
    """Look up the text in a slot in the FAQ, and say the answer. If the FAQ has no answer, continue at `on_none`; if
    `on_none` is None, say that there is no answer."""

    step: str
    slot: str
    on_none: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    step: str = "end"


Instruction: TypeAlias = (
    Collect
    | SayText
    | Assign
    | Jump
    | JumpUnless
    | PerformAction
    | Confirm
    | CallFlow
    | LinkFlow
    | HandOff
    | AnswerFromFaq
    | End
)


@dataclass(frozen=True, slots=True)
class Flow:
    """One task that the agent can do."""

    name: str
    description: str
    program: tuple[Instruction, ...]
    examples: tuple[str, ...] = ()
    completed: str = ""  # said when the flow ends
    is_hidden: bool = False  # only other flows and the program can start this one
    places: Mapping[str, int] = field(default_factory=dict)  # step -> its first instruction

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots that the flow asks for, in the order of its steps."""
        return tuple(dict.fromkeys(at.slot for at in self.program if isinstance(at, Collect)))


@dataclass(frozen=True, slots=True)
class Patterns:
    """Texts that the agent says in situations that can occur in every flow. The gaps {flow}, {flows}, {example},
    {slot}, {slots} and {value} are filled in."""

    help: str = "I can help you with: {flows}."
    help_open: str = "You can answer, say go back, or cancel."
    cancelled: str = "All right, let's leave it."  # doesn't say "cancelled": that may be heard as a cancelled booking
    restarted: str = "All right, from the beginning."
    nothing_to_cancel: str = "There is nothing to cancel."
    corrected: str = "Got it, I've updated your {slot} to {value}."
    back_to: str = "Back to where we were."
    greeting: str = "Hello!"
    here: str = "Yes, I'm here."  # the user asks whether the agent is there
    thanks: str = "You're welcome."
    assent: str = "All right."
    farewell: str = "Goodbye!"
    chit_chat: str = "I'm afraid I can only help with my tasks."
    handoff: str = "I'll put you through to a person."
    skipped: str = "All right, we'll leave that out."
    not_skippable: str = "I need this one to go on."
    one_number: str = "I need one number."  # the user named several numbers
    only_one: str = "I can take only one {slot}."  # the user named several values, or a further one
    wait: str = "Take your time."
    nothing_before: str = "This is where we began."
    invalid: str = "That {slot} doesn't work."
    passed: str = "That day has passed."
    too_late: str = "It's already later than that."
    ambiguous: str = "Did you mean {value}?"
    reprompt: str = "Sorry, I didn't get that."
    reprompt_again: str = "I'm sorry, I still didn't get that."  # said from the second failed reply on
    silence: str = "Are you still there?"
    read_back: str = "I have {value}. Is that right?"
    what_to_change: str = "All right. What should I change?"  # after a no to a confirmation
    what_to_change_again: str = "What should I change?"  # said if the answer to `what_to_change` wasn't understood
    already_done: str = "That's done already, with {slot} {value}."  # the user wants a change after a final action
    too_late_to_stop: str = "It was done before I could stop it."  # the user said "stop" during a final action
    choices: str = "You can choose {slots}."  # the user asks which answers are possible
    why: str = "I need the {slot} for this."  # the user asks why; if the slot has help, that is said instead
    recalled: str = "The {slot} is {value}."  # the user asks for a value that was given before
    not_given: str = "I don't have the {slot} yet."  # the user asks for a value that wasn't given
    may_skip: str = "You can also leave that out."  # there is no answer to a question about an optional slot
    cannot_answer: str = "I can't answer that here."  # there is no answer to the user's question
    not_exactly: str = "I'm not sure I can do that. I can help you with: {flows}."  # similar tasks do the opposite
    offer: str = "I can {flow}. Is that what you need?"  # a first message names no task, but is similar to one
    only_yes: str = "I didn't get what you said after the yes."  # the reply to a confirmation goes on after a yes
    slot_again: str = "Let me take the {slot} again."  # a reply to a confirmation changes it, but it isn't clear how
    limited: str = "All right, {value}."  # the user gave a limit ("after four"); the question follows again
    noted: str = "So far I have {slots}."  # the values found in a message that was only partly understood
    later: str = "I'll come back to the {slots}."  # that message also mentions a day or time that isn't clear yet
    check: str = "I have {slots}. Is that right?"  # like `noted`, but asked before an action uses the values
    which: str = "I can't tell whether you mean {slots}."  # a new value fits two slots
    not_understood: str = "Sorry, I didn't understand."
    example: str = "You could say: {example}."  # after a second message in a row that was not understood
    busy: str = "One moment, please. I could not take that in yet."
    added: str = "{value}, noted."  # the user added or changed items of a list
    removed: str = "I've taken off {value}."
    no_such_item: str = "That isn't on your list."  # the user wants to change an item that isn't on the list
    which_item: str = "I can't tell whether you mean {slots}."  # the change fits two items of the list
    left_out: str = "I didn't get this part: {value}."  # some words of a reply about a list weren't understood
    more: str = "Anything else?"  # the question after an item of a list
    list_full: str = "That's as much as I can take."
    list_short: str = "I need a little more than that."  # the user said "that's all" before the list had enough items
    no_answer: str = "I'm sorry, I don't know the answer to that."  # the FAQ has no answer
    nothing_found: str = "I'm sorry, I found nothing to choose from."  # an action returned no choices
    gave_up: str = "I'm sorry, I could not get that. Let's leave it here."
    failed: str = "I encountered an error. Say retry to try again, or cancel."
    unsure: str = "I was interrupted and can't tell whether that went through. I am checking. Say retry or cancel."
    unconfirmed: str = "Please say yes or no."
    doubtful: str = "Sorry, I'm not sure I heard you right."  # said before the question is asked again
    doubtful_yes: str = "Sorry, did you say yes?"  # said instead of `doubtful`, if the message seems to be a yes
    completed: str = ""
    ended: str = "That's done."  # said when a flow ends that has no closing text of its own


@dataclass(frozen=True, slots=True)
class FaqEntry:
    """A question in one or more wordings, and the answer."""

    questions: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Domain:
    """The compiled content of a flow file: flows, slots, texts and settings."""

    flows: Mapping[str, Flow]
    slots: Mapping[str, SlotSpec]
    patterns: Patterns = Patterns()
    misses_max: int = 3  # consecutive replies not understood before the agent gives up
    gives_up_by: str = "cancel"  # how the agent gives up: cancel or handoff
    tries_max: int = 5  # failed replies to one question, for any reason, before the agent gives up
    queue_max: int = 10  # messages that wait while a request is running; more are refused
    time_zone: str = ""  # where the callers are; empty: the time zone of this machine
    correctable_turns: int = 3  # for how many turns after its end a task can be corrected; 0: not at all
    confidence_min: float = 0.35  # words heard with less confidence decide nothing; the question is asked again
    language: str = "en"  # which language pack reads replies and says values
    faq: tuple[FaqEntry, ...] = ()
    faq_min: float = 0.5  # how sure the search has to be of an answer
    repairs: Mapping[str, str] = field(default_factory=dict)  # occasion -> the flow that handles it

    @property
    def pack(self) -> LanguagePack:
        """The language pack of the flows."""
        return pack_of(self.language)

    @property
    def list_readers(self) -> ListReaders:
        """The functions that read replies about lists. A language without them can't have lists: a flow file with a
        list is then refused when it is loaded."""
        lists = self.pack.lists
        assert lists is not None, f"the language pack {self.language!r} can't read replies about lists"
        return lists

    @property
    def written_flows(self) -> tuple[Flow, ...]:
        """The flows that the file defines, without the hidden flows that ask for the items of lists."""
        return tuple(flow for flow in self.flows.values() if self.list_of_item(flow.name) is None)

    def list_of_item(self, flow: str) -> SlotSpec | None:
        """The slot of the list whose items the hidden flow `flow` asks for. None if `flow` is the name of an ordinary
        flow."""
        return next((spec for spec in self.slots.values() if spec.items and spec.item_flow == flow), None)

    @property
    def offered(self) -> tuple[Flow, ...]:
        """The flows that users can ask for."""
        return tuple(flow for flow in self.flows.values() if not flow.is_hidden)
