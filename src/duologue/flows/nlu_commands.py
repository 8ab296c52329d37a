"""Converts the result of NLU to commands: an intent becomes a command, and the words that NLU quotes from the message
become slot values.

Each slot's own grammar reads its value, from the quoted words or from the whole message. A language model may also
return normalised values; these are checked, and the agent announces them to the user. Rule: an unknown intent, a quote
that can't be read as a value, or a value that doesn't have the form of its slot is ignored.
"""

from __future__ import annotations

from duologue.dialogue.commands import Cancel, ChitChat, Command, CorrectSlot, Help, SetSlot, Skip, StartFlow
from duologue.dialogue.effects import Understand
from duologue.dialogue.flow import Domain
from duologue.dialogue.language.readings import Direct, Json, Polarity, Question, SlotKind
from duologue.dialogue.partial_corrections import corrections_in_part
from duologue.dialogue.state import DialogueState
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.nlu.understanding import Quote, Understanding

from .guess_checks import GuessInContext, denies_task, is_doubtful, offer_instead
from .intents import ANSWERS, COMMANDS, FLOW
from .model_values import checked_value
from .opening_messages import flow_by_values
from .partial_values import (
    answer_in_part,
    first_values,
    flow_by_items,
    one_more,
    only_one,
    put_off,
    wants_yes_or_no,
)

_SURE_OF_COMMAND = 0.6  # from this confidence on, a command isn't overruled by a choice that a flow offers


def commands_of(
    domain: Domain, state: DialogueState, effect: Understand, found: Understanding, today: str
) -> tuple[Command, ...]:
    """The commands that the message means; empty if it was not understood."""
    values = tuple(_quoted(domain, state, quote, found.by, today) for quote in found.quotes)
    given = _with_model_values(domain, state, tuple(value for value in values if value is not None), found)
    name = found.intent
    if found.by == "llm" and _is_refused_yes(domain, name, effect.text):
        return given
    if found.answer and not given and (name is None or name == "chit_chat"):
        return (ChitChat(found.answer),)
    guess = GuessInContext(name or "", found.confidence, domain, state, effect, today)
    is_bare = found.by != "llm" and state.top is not None and domain.pack.replies.is_all_values(effect.text, today)
    is_plain = name is None or guess.is_task_at_hand or (name in ANSWERS and wants_yes_or_no(domain, effect))
    if (is_plain or is_bare) and not given and (part := answer_in_part(domain, state, effect, today)):
        return (*_put_off(domain, state, effect.text, today, part), *part)
    if (is_plain or is_bare) and not given and (several := only_one(domain, effect, today)):
        return several
    is_task = name is not None and name.startswith(FLOW)
    if not given and state.top is None and not is_task and (items := _flow_named(domain, effect.text, today, found)):
        return items
    if name is None or is_bare:
        return given or _changes(domain, state, effect, today)
    if found.by != "llm" and denies_task(guess):
        return (Cancel(), Help())
    if found.by != "llm" and (offer := offer_instead(guess)):
        return (ChitChat(offer), *given)
    if found.by != "llm" and is_doubtful(guess):
        if _is_change_left(domain, state, effect):
            return (Skip(),)
        return given or _changes(domain, state, effect, today)
    if found.by != "llm" and guess.is_task_at_hand and not given and _only_asks(domain, effect, today):
        return ()  # a question about the open task that has no answer
    if name.startswith(FLOW):
        flow = name.removeprefix(FLOW)
        if given:
            return (StartFlow(flow), *given)
        values = first_values(domain, flow, effect.text, today)
        if guess.is_task_at_hand and _compares(domain, state, effect.text, values):
            return ()
        if guess.is_task_at_hand and any(_has_list(state, value.slot) for value in values):
            return ()  # the items of a list that is already there are added or changed one by one, never all at once
        if guess.is_task_at_hand and (kept := one_more(domain, state, effect.text, values)):
            return kept
        later = put_off(domain, flow, effect.text, today, [value.slot for value in values])
        return (StartFlow(flow), *later, *values)
    known = {**COMMANDS, **ANSWERS}
    return (known[name][0], *given) if name in known else given


def _compares(domain: Domain, state: DialogueState, text: str, values: tuple[SetSlot, ...]) -> bool:
    """Does the message compare with another thing, as in "the same for my cat", while this task is about a dog? The
    values of that thing don't replace those of this task."""
    is_same = any(token.word in domain.pack.words.same for token in domain.pack.words.tokens_of(text))
    held = dict(state.top.slots) if state.top is not None else {}
    return is_same and any(one.slot in held and held[one.slot].value != one.value for one in values)


def _has_list(state: DialogueState, slot: str) -> bool:
    """Has the user already given items for this list?"""
    return any(
        name == slot
        for instance in state.stack
        for name, filled in (*instance.slots, *instance.lists)
        if isinstance(filled.value, list | tuple | dict)
    )


def _only_asks(domain: Domain, effect: Understand, today: str) -> bool:
    """Does the message ask something, and give no value?"""
    slots = tuple(domain.slots[name].grammar_slot for name in effect.slots if name in domain.slots)
    is_asked = domain.pack.signs.asks(domain.pack.words.tokens_of(effect.text))
    return is_asked and not domain.pack.replies.read_parts(slots, effect.text, today)


def _flow_named(domain: Domain, text: str, today: str, found: Understanding) -> tuple[Command, ...]:
    """The commands that start a flow because the message names items of its list, or one of its choices."""
    is_command = found.intent is not None and found.confidence >= _SURE_OF_COMMAND
    return flow_by_items(domain, text, today) or (() if is_command else flow_by_values(domain, text, today, found))


def _changes(domain: Domain, state: DialogueState, effect: Understand, today: str) -> tuple[Command, ...]:
    """The corrections in a message that is a reply to a confirmation. Empty if no confirmation is open. After a
    correction, the agent asks for the confirmation again."""
    is_confirmation = state.top is not None and effect.waiting_for is None and not state.top.failed
    if state.top is None or not is_confirmation or state.is_aside:
        return ()
    return corrections_in_part(domain, state.top, effect.text, today)


def _put_off(
    domain: Domain, state: DialogueState, text: str, today: str, part: tuple[SetSlot, ...]
) -> tuple[Command, ...]:
    """The commands for days and times that the user mentioned together with the answer, but that can't be used yet.
    They make the agent say that it will ask about them later."""
    if state.top is None:
        return ()
    known = [*(name for name, _ in state.top.slots), *(value.slot for value in part)]
    return put_off(domain, state.top.flow, text, today, known)


def _with_model_values(
    domain: Domain, state: DialogueState, quoted: tuple[SetSlot | CorrectSlot, ...], found: Understanding
) -> tuple[SetSlot | CorrectSlot, ...]:
    """The values that grammars read from quoted words, together with the values that the language model returned, which
    are announced to the user. If the two give different values for a slot, the model's value is used for a text or a
    name; for any other slot, neither is used."""
    read_by = {value.slot: value for value in quoted}
    taken: dict[str, SetSlot | CorrectSlot] = dict(read_by)
    for given in found.values:
        spec = domain.slots.get(given.slot)
        value = checked_value(spec, given) if spec is not None else None
        if spec is None or value is None:
            continue
        other = read_by.get(given.slot)
        is_free = spec.kind in (SlotKind.TEXT, SlotKind.NAME)
        if other is not None and other.value != value and not is_free:
            del taken[given.slot]
        elif other is None or is_free:
            is_filled = state.top is not None and state.top.filled(given.slot) is not None
            taken[given.slot] = (CorrectSlot if is_filled else SetSlot)(given.slot, value, source=PICKED_OUT)
    return tuple(taken.values())


def _is_refused_yes(domain: Domain, intent: str | None, text: str) -> bool:
    """Did the model find a yes in a message that asks something or says no? Such a yes is never accepted."""
    signs, tokens = domain.pack.signs, domain.pack.words.tokens_of(text)
    return intent == "affirm" and (signs.asks(tokens) or signs.polarity(tokens) in (Polarity.NO, Polarity.UNSURE))


def _is_change_left(domain: Domain, state: DialogueState, effect: Understand) -> bool:
    """Does the user want to leave everything as it is, instead of giving the value that was asked for?"""
    return effect.waiting_for is not None and not state.reading_back and _keeps(domain, effect.text)


def _keeps(domain: Domain, text: str) -> bool:
    return domain.pack.signs.keeps(domain.pack.words.tokens_of(text))


def _quoted(domain: Domain, state: DialogueState, quote: Quote, by: str, today: str) -> SetSlot | CorrectSlot | None:
    spec = domain.slots.get(quote.slot)
    if spec is None:
        return None
    reading = domain.pack.replies.read(Question(spec.grammar_slot), quote.text, today)
    value: Json = reading.value_of(quote.slot) if isinstance(reading, Direct) else None
    if value is None and spec.kind in (SlotKind.TEXT, SlotKind.NAME):
        value = quote.text
    if value is None:
        return None
    is_filled = state.top is not None and state.top.filled(quote.slot) is not None
    kind = CorrectSlot if is_filled else SetSlot
    return kind(quote.slot, value, quote.text, (0, 0), by or "nlu")
