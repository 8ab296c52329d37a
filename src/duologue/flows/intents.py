"""The intents that NLU may choose from in a turn: the offered flows, and commands with example phrases.

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
from duologue.dialogue.flow import Domain
from duologue.nlu.understanding import ExpectedSlot, Intent, MessageScope

Said = tuple[str, ...]

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


def scope_of(domain: Domain, effect: Understand, is_confirming: bool) -> MessageScope:
    """The intents and slots that are possible in this turn."""
    flows = [domain.flows[name] for name in effect.flows]
    tasks = [Intent(FLOW + flow.name, flow.examples, flow.description, flow.name) for flow in flows]
    commands = {**COMMANDS, **(ANSWERS if is_confirming else {})}
    others = [Intent(name, examples) for name, (_, examples) in commands.items()]
    slots = tuple(ExpectedSlot(name, domain.slots[name].display_name) for name in effect.slots)
    return MessageScope((*tasks, *others), slots, effect.question)
