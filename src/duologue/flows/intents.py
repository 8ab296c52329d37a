"""The intents that NLU may choose from in a turn: the flows that the user can start, and commands such as "cancel",
each with example phrases.

Rule: a flow's intent has a prefix, so it can't be confused with a command of the same name.
"""

from __future__ import annotations

from duologue.dialogue.commands import (
    Affirm,
    Back,
    Cancel,
    ChitChat,
    Command,
    Deny,
    Handoff,
    Help,
    NeedTime,
    Repeat,
    Restart,
    Skip,
)
from duologue.dialogue.effects import Understand
from duologue.dialogue.flow import Domain, SlotSpec
from duologue.dialogue.language.readings import SlotKind
from duologue.dialogue.state import DialogueState
from duologue.nlu.understanding import ExpectedSlot, Intent, MessageScope, Surroundings

Said = tuple[str, ...]
MESSAGES_TOLD = 9  # a language model is told this many messages; the last one is the message to understand
CHARS_TOLD_MAX = 300

FLOW = "flow "  # prefix of flow intents; never part of a phrase that NLU learns

# Commands that are possible at any time, with example phrases.
COMMANDS: dict[str, tuple[Command, Said]] = {
    "cancel": (
        Cancel(),
        ("cancel that", "forget it", "never mind", "I don't want this any more", "abort"),
    ),
    "start_over": (
        Restart(),
        ("start over", "let's begin again", "can we start from the beginning", "do this all over again"),
    ),
    "help": (
        Help(),
        ("help", "what can you do", "how does this work", "I don't know what to say"),
    ),
    "repeat": (Repeat(), ("say that again", "pardon", "what did you say", "I didn't hear you", "repeat the question")),
    "wait": (
        NeedTime(),
        (
            "hold on",
            "give me a moment",
            "let me check my calendar",
            "wait, I have to look that up",
            "I'm still thinking",
        ),
    ),
    "go_back": (Back(), ("go back", "one step back", "I want to change my last answer", "that last one was wrong")),
    "skip": (Skip(), ("skip this", "I'd rather not say", "next question please", "can we leave that out", "pass")),
    "handoff": (
        Handoff(),
        ("talk to a person", "I want a human", "let me speak to someone"),
    ),
    "chit_chat": (
        ChitChat(),
        ("how are you", "are you a robot", "tell me a joke", "what's the weather like", "nice to meet you"),
    ),
}
# Commands that are possible only while a question is open.
ANSWERS: dict[str, tuple[Command, Said]] = {
    "affirm": (Affirm(), ("yes", "that's right", "correct", "exactly", "sounds good", "go ahead", "sure")),
    "deny": (Deny(), ("no", "that's wrong", "not really", "I don't think so", "no thanks", "incorrect")),
}


_FORMS = {
    SlotKind.DATE: "a date as YYYY-MM-DD",
    SlotKind.TIME: "a time as HH:MM, 24 hours",
    SlotKind.NUMBER: "a number",
    SlotKind.MONEY: 'an object {"amount": number, "currency": "EUR"}',
    SlotKind.DURATION: "an ISO 8601 duration, such as PT1H30M",
    SlotKind.YES_NO: "true or false",
    SlotKind.NAME: "a name",
    SlotKind.PHONE: "digits only",
    SlotKind.EMAIL: "an e-mail address",
    SlotKind.CODE: "letters and digits without spaces",
    SlotKind.TEXT: "the words that answer the question",
}
_LISTED_MAX = 40  # choices and names that a model is told


def form_of(spec: SlotSpec) -> str:
    """Instructions for a language model: in which form to write a value of this slot. Empty if any form is allowed."""
    listed = [choice.value for choice in spec.choices]
    if spec.names is not None and not spec.is_open:
        listed = list(dict.fromkeys(spec.names.values.values()))
    return f"one of: {', '.join(listed)}" if 0 < len(listed) <= _LISTED_MAX else _FORMS.get(spec.kind, "")


def surroundings_of(state: DialogueState, today: str) -> Surroundings:
    """What a language model is told besides the message: the last messages, the values of the open task, and today's
    date."""
    history = tuple(
        f"{message.role}: {message.content[:CHARS_TOLD_MAX]}" for message in state.messages[-MESSAGES_TOLD:-1]
    )
    held = state.top.slots if state.top is not None else ()
    return Surroundings(today, history, tuple((name, str(filled.value)[:CHARS_TOLD_MAX]) for name, filled in held))


def scope_of(
    domain: Domain, effect: Understand, is_confirming: bool, around: Surroundings | None = None
) -> MessageScope:
    """The intents and slots that are possible in this turn."""
    flows = [domain.flows[name] for name in effect.flows]
    tasks = [Intent(FLOW + flow.name, flow.examples, flow.description, flow.name) for flow in flows]
    commands = {**COMMANDS, **(ANSWERS if is_confirming else {})}
    own = domain.pack.examples
    others = [Intent(name, own.get(name, examples)) for name, (_, examples) in commands.items()]
    specs = [domain.slots[name] for name in effect.slots]
    slots = tuple(ExpectedSlot(spec.name, spec.display_name, form_of(spec)) for spec in specs)
    return MessageScope((*tasks, *others), slots, effect.question, around or Surroundings())
