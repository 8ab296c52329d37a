"""Handles the reply to a confirmation: a yes, a no, or a change.

Rule: a reply that is neither a clear yes nor a clear no never counts as a yes. Such a reply changes a slot if it is
fully understood, and goes to NLU otherwise.
"""

from __future__ import annotations

from .answers import as_set_slots, correct_or_ask, count_as_miss, empty_slots
from .apply_commands import apply_commands, say_no, say_yes
from .commands import BY_NAME, ChitChat, Command, CorrectSlot, NeedTime, SetSlot
from .corrections import named_slot, slots_that_fit, value_for_slot
from .draft import DialogueDraft
from .english import (
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Json,
    Question,
    Reading,
    Slot,
    SlotKind,
    Unclear,
    Value,
    read,
    read_confirmation,
    read_volunteered,
)
from .english.commands import command_of, postpones, repeats
from .english.elliptic_corrections import with_currency_of
from .english.no_preference import has_no_preference
from .english.tokens import tokens_of
from .flow import Confirm
from .run_flow import continue_flow
from .slot_names import only_named
from .state import Phase
from .templates import fill, gaps_of

_CONTACT_KINDS = (SlotKind.PHONE, SlotKind.EMAIL)  # such a value, given instead of a yes, is always a correction


def answer_confirmation(d: DialogueDraft, text: str) -> None:
    """Handle the reply to the open confirmation. The cases are tried in order, and the first that fits is applied."""
    tokens = tokens_of(text)
    name, said = command_of(tokens), named_slot(d.domain, d.top, text, d.today)
    reading = read_confirmation(d.s.last_question, text, d.today, _confirmed_slots(d))
    answer = reading.answer if isinstance(reading, Confirmation) else None
    if not text.strip():
        count_as_miss(d)
    elif name is not None:
        _apply(d, () if repeats(d.s.last_question, tokens) else (BY_NAME[name],))
    elif postpones(tokens):
        _apply(d, (NeedTime(),))
    elif said is not None and said[1]:
        _apply(d, said[1])
    elif answer is ConfirmationAnswer.YES:
        say_yes(d, [])
        continue_flow(d)
    elif answer is ConfirmationAnswer.NO:
        say_no(d)
        continue_flow(d)
    elif said is None and (instead := _change_commands(d, text, reading)) is not None:
        _apply(d, instead)
    elif has_no_preference(tokens, frozenset()):
        count_as_miss(d)  # "I don't care" is neither a yes nor a reason to cancel
    else:
        correct_or_ask(d, text)


def _apply(d: DialogueDraft, commands: tuple[Command, ...]) -> None:
    d.enter(Phase.UNDERSTANDING)
    apply_commands(d, commands)


def _change_commands(d: DialogueDraft, text: str, reading: Reading) -> tuple[Command, ...] | None:
    """The commands for a reply that contains a new value: they set the value, or ask which slot it is for. None if the
    reply isn't fully understood."""
    if meant := _settled(d, text):
        return meant
    if len(slots := _fitting(d, text)) > 1:
        return (
            ChitChat(fill(d.domain.patterns.which, {"slots": [f"the {d.spec(name).display_name}" for name in slots]})),
        )
    if isinstance(reading, Confirmation) and (found := reading.values or _only_reading(d, text)):
        return tuple(CorrectSlot(one.slot, _in_old_unit(d, one), one.raw, one.span, "grammar") for one in found)
    if reached := _only_reading(d, text, _CONTACT_KINDS):
        return tuple(CorrectSlot(one.slot, one.value, one.raw, one.span) for one in reached)
    return _volunteered(d, text) or None if isinstance(reading, Unclear) else None


def _settled(d: DialogueDraft, text: str) -> tuple[Command, ...]:
    """The correction for a reply that only says which slot the message before it was about. Example: "the time", after
    "no, make it five", which fits both the time and the number of people. Empty for any other reply."""
    slot = only_named(d.domain, d.top.flow, text)
    said = [message.content for message in d.s.messages if message.role == "user"]
    if slot is None or len(said) < 2 or slot not in (slots := _fitting(d, said[-2])) or len(slots) < 2:
        return ()
    return value_for_slot(d.domain, d.top, slot, said[-2], d.today)


def _fitting(d: DialogueDraft, text: str) -> tuple[str, ...]:
    """Of the slots that the confirmation is about, those that the new value in the text could be for."""
    return slots_that_fit(d.domain, d.top, tuple(slot.name for slot in _confirmed_slots(d)), text, d.today)


def _volunteered(d: DialogueDraft, text: str) -> tuple[SetSlot, ...]:
    """The values in a reply that answers a later question instead of saying yes or no, such as "at the bar". Empty for
    any other reply."""
    found = read_volunteered(empty_slots(d), text, d.flow.description, d.today)
    return as_set_slots(found.values, "grammar") if found is not None else ()


def _in_old_unit(d: DialogueDraft, value: Value) -> Json:
    before = d.top.filled(value.slot)
    return with_currency_of(value.value, before.value if before is not None else None)


def _only_reading(d: DialogueDraft, text: str, kinds: tuple[SlotKind, ...] = tuple(SlotKind)) -> tuple[Value, ...]:
    """The new value in a reply such as "no, make it 600", if the grammar of exactly one slot of the question reads it;
    otherwise empty. Slots that accept any text or any name aren't tried, because their grammars read anything."""
    slots = [slot for slot in _confirmed_slots(d) if slot.kind is not SlotKind.TEXT and slot.kind in kinds]
    closed = [slot for slot in slots if slot.kind is not SlotKind.NAME or not slot.is_open]
    read_by = [reading for slot in closed if isinstance(reading := read(Question(slot), text, d.today), Direct)]
    return read_by[0].values if len(read_by) == 1 else ()


def _confirmed_slots(d: DialogueDraft) -> tuple[Slot, ...]:
    """The filled slots that the question is about: those that its text names, or all filled slots if it names no
    slot."""
    at = d.flow.program[d.top.at]
    filled = [name for name, _ in d.top.slots if name in d.domain.slots]
    named = [name for name in gaps_of(at.text) if name in filled] if isinstance(at, Confirm) else []
    return tuple(d.spec(name).grammar_slot for name in named or filled)
