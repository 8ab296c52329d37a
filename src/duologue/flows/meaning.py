"""From what NLU understood to commands: intents become flows and commands, quotes become values.

Values are read by the slots' own grammars, out of the words that NLU quotes or out of the message itself. Rule: an
intent that is not open at this turn, or a quote that no grammar reads, is left out.
"""

from __future__ import annotations

from duologue.dialogue.commands import (
    Affirm,
    Back,
    Cancel,
    ChitChat,
    Command,
    CorrectSlot,
    Deny,
    Handoff,
    Help,
    Repeat,
    Restart,
    SetSlot,
    Skip,
    StartFlow,
    Wait,
)
from duologue.dialogue.effects import Understand
from duologue.dialogue.flow import Domain
from duologue.dialogue.grammars import (
    Answer,
    Direct,
    Json,
    Kind,
    Question,
    plainly,
    read,
    read_parts,
    read_volunteered,
)
from duologue.dialogue.grammars import Slot as DialogueSlot
from duologue.dialogue.grammars.carriers import is_negation
from duologue.dialogue.grammars.commands import keeps, repeats
from duologue.dialogue.grammars.parts import is_all_values, read_first
from duologue.dialogue.grammars.questions import asks
from duologue.dialogue.grammars.tokens import stem, tokens_of
from duologue.dialogue.grammars.yesno import asks_of_the_past, is_to_come, opening, trick_of
from duologue.dialogue.parts import PART
from duologue.dialogue.state import State
from duologue.nlu.understanding import Intent, Quote, Scope, Slot, Understanding

Said = tuple[str, ...]

_FLOW = "flow "  # sets a flow apart from a command of the same name; it is no word that anybody says
_SURE = 0.9  # that something else was meant where anything may be an answer

_SURE_OF_A_PERSON = 0.8  # that an open task is to be left to somebody
_SURE_OF_A_TURN = 0.6  # that an open question is left for something else, or an answer taken back
_TURNING = ("go_back", "start_over", "cancel")

# What can be wanted at any time, and how people say it.
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
        Wait(),
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
        ("talk to a person", "I want a human", "let me speak to somebody"),
    ),
    "chit_chat": (
        ChitChat(),
        ("how are you", "are you a robot", "tell me a joke", "what's the weather like", "nice to meet you"),
    ),
}
# Only while something is asked.
ANSWERS: dict[str, tuple[Command, Said]] = {
    "affirm": (Affirm(), ("yes", "that's right", "correct", "exactly", "sounds good", "go ahead", "sure")),
    "deny": (Deny(), ("no", "that's wrong", "not really", "I don't think so", "no thanks", "incorrect")),
}


def scope_of(domain: Domain, effect: Understand, is_confirming: bool) -> Scope:
    """What is open at this turn."""
    flows = [domain.flows[name] for name in effect.flows]
    tasks = [Intent(_FLOW + flow.name, flow.examples, flow.description, flow.name) for flow in flows]
    commands = {**COMMANDS, **(ANSWERS if is_confirming else {})}
    others = [Intent(name, examples) for name, (_, examples) in commands.items()]
    slots = tuple(Slot(name, domain.slots[name].called) for name in effect.slots)
    return Scope((*tasks, *others), slots, effect.question)


def commands_of(
    domain: Domain, state: State, effect: Understand, found: Understanding, today: str
) -> tuple[Command, ...]:
    """What the person wants; nothing if nobody can tell."""
    values = tuple(_quoted(domain, state, quote, found.by, today) for quote in found.quotes)
    given = tuple(value for value in values if value is not None)
    name = found.intent
    is_open = state.top is not None and name == _FLOW + state.top.flow
    is_bare = found.by != "llm" and state.top is not None and is_all_values(effect.text, today)
    is_nothing_else = name is None or is_open or is_bare or (name in ANSWERS and _wants_yes_or_no(domain, effect))
    if is_nothing_else and not given and (part := _answer_in_part(domain, state, effect, today)):
        return part
    if name is None or is_bare:
        return given
    if found.by != "llm" and _is_free_text(domain, effect) and (is_open or found.confidence < _SURE):
        return given
    if name == "cancel" and found.by != "llm" and keeps(tokens_of(effect.text)):
        return (Skip(),) if effect.waiting_for is not None and not state.reading_back else given
    if found.by != "llm" and (_is_hardly_meant(state, found, is_open=is_open) or _is_asked_about(effect, found)):
        return given
    if name.startswith(_FLOW):
        flow = name.removeprefix(_FLOW)
        return (StartFlow(flow), *(given or first_values(domain, flow, effect.text, today)))
    if name in ANSWERS and found.by != "llm" and not _is_said(domain, effect, ANSWERS[name][0], today):
        return given
    if name == "handoff" and found.by != "llm" and state.top is not None and found.confidence < _SURE_OF_A_PERSON:
        return given  # "you can call me" is near to it, and there is no way back
    if name == "cancel" and found.by != "llm" and _may_be_an_answer(effect):
        return given
    if name == "wait" and found.by != "llm" and _is_not_to_wait(effect.text):
        return given
    known = {**COMMANDS, **ANSWERS}
    return (known[name][0], *given) if name in known else given


def _is_hardly_meant(state: State, found: Understanding, *, is_open: bool) -> bool:
    """Would a guess take away what the person is at, or cancel what isn't there? "The later one" is near to "go back",
    and "I don't mind" to "never mind"."""
    if state.top is None:
        return found.intent == "cancel" and found.confidence < _SURE
    turns = found.intent in _TURNING or (str(found.intent).startswith(_FLOW) and not is_open)
    return turns and found.confidence < _SURE_OF_A_TURN


def _is_asked_about(effect: Understand, found: Understanding) -> bool:
    """ "Is it free to cancel?" asks, and cancels nothing."""
    return found.intent in _TURNING and asks(tokens_of(effect.text))


def _is_said(domain: Domain, effect: Understand, answer: Command, today: str) -> bool:
    """Does the message itself say yes or no? A model that compares phrases hears a yes in "wait" and "are you sure?",
    and a yes may send money; one that reads the question knows better."""
    slots = tuple(domain.slots[name].asked for name in effect.slots if name in domain.slots)
    said = plainly(effect.question, effect.text, today, slots)
    return said is (Answer.YES if isinstance(answer, Affirm) else Answer.NO)


def _is_not_to_wait(text: str) -> bool:
    """ "No waiting", "you needn't wait": of somebody else, and not at all."""
    words = [token.low for token in tokens_of(text)]
    denied = next((place for place, word in enumerate(words) if is_negation(word)), len(words))
    return any(stem(word) == "wait" for word in words[denied:])


def _is_free_text(domain: Domain, effect: Understand) -> bool:
    """Is anything at all an answer to the open question? "It doesn't work" is near to a call for help."""
    return effect.waiting_for is not None and domain.slots[effect.waiting_for].kind is Kind.TEXT


def _may_be_an_answer(effect: Understand) -> bool:
    """ "Cancel my booking", after "shall I cancel it?": nobody wants the question dropped."""
    said = [token for token in tokens_of(effect.text) if stem(token.low) == "cancel"]
    return effect.waiting_for is None and repeats(effect.question, said)


def _quoted(domain: Domain, state: State, quote: Quote, by: str, today: str) -> SetSlot | CorrectSlot | None:
    spec = domain.slots.get(quote.slot)
    if spec is None:
        return None
    reading = read(Question(spec.asked), quote.text, today)
    value: Json = reading.value_of(quote.slot) if isinstance(reading, Direct) else None
    if value is None and spec.kind in (Kind.TEXT, Kind.NAME):
        value = quote.text
    if value is None:
        return None
    is_filled = state.top is not None and state.top.filled(quote.slot) is not None
    kind = CorrectSlot if is_filled else SetSlot
    return kind(quote.slot, value, quote.text, (0, 0), by or "nlu")


def first_values(domain: Domain, flow: str, text: str, today: str) -> tuple[SetSlot, ...]:
    """The values in a message that starts a flow: all of them, if all of its words are understood; otherwise those that
    stand for themselves."""
    task = domain.flows[flow]
    slots = tuple(domain.slots[name].asked for name in task.slots if not domain.slots[name].ask_before_filling)
    whole = read_volunteered(slots, text, " ".join((task.description, *task.examples)), today)
    if whole is not None:
        return tuple(SetSlot(value.slot, value.value, value.raw, value.span) for value in whole.values)
    return _parts(slots, text, today)


def _answer_in_part(domain: Domain, state: State, effect: Understand, today: str) -> tuple[SetSlot, ...]:
    """The answer to the open question in a message with words that nobody understands, and what else is in it. A
    question is no answer, whatever days and numbers it has."""
    if state.top is None or effect.waiting_for is None or asks(tokens_of(effect.text)):
        return ()
    flow = domain.flows[state.top.flow]
    empty = [
        name for name in flow.slots if state.top.filled(name) is None and not domain.slots[name].ask_before_filling
    ]
    if _wants_yes_or_no(domain, effect):
        return _yes_or_no_in_part(effect, tuple(domain.slots[name].asked for name in empty), today)
    names = dict.fromkeys((effect.waiting_for, *empty))
    found = _parts(tuple(domain.slots[name].asked for name in names), effect.text, today)
    first = read_first(Question(domain.slots[effect.waiting_for].asked, effect.question), effect.text, today)
    if first is not None and not any(value.slot == effect.waiting_for for value in found):
        found = (SetSlot(first.slot, first.value, first.raw, first.span, PART), *found)
    return found if any(value.slot == effect.waiting_for for value in found) else ()


def _wants_yes_or_no(domain: Domain, effect: Understand) -> bool:
    return effect.waiting_for is not None and domain.slots[effect.waiting_for].kind is Kind.YES_NO


def _yes_or_no_in_part(effect: Understand, slots: tuple[DialogueSlot, ...], today: str) -> tuple[SetSlot, ...]:
    """The yes or no that is said first and then explained, and what else is in it."""
    tokens = tokens_of(effect.text)
    answer = opening(tokens)
    if answer is None or effect.waiting_for is None or trick_of(effect.question):
        return ()
    if asks_of_the_past(effect.question) and is_to_come(tokens[1:]):
        return ()  # "yes, I'll call them", of what has happened
    others = tuple(slot for slot in slots if slot.name != effect.waiting_for)
    said = SetSlot(effect.waiting_for, answer, effect.text, (0, len(effect.text)), PART)
    return (said, *_parts(others, effect.text, today))


def _parts(slots: tuple[DialogueSlot, ...], text: str, today: str) -> tuple[SetSlot, ...]:
    found = read_parts(slots, text, today)
    return tuple(SetSlot(value.slot, value.value, value.raw, value.span, PART) for value in found)
