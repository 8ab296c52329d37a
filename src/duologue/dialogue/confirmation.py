"""A reply to a confirmation: yes, no, or something else instead (D-09).

Rule: what says neither in so many words changes what it names or wholly explains, or is handed on; it never counts as
a yes.
"""

from __future__ import annotations

from .answers import correct_or_ask, empty_slots, given, missed
from .apply_commands import obey, say_no, say_yes
from .commands import BY_NAME, ChitChat, Command, CorrectSlot, SetSlot, Wait
from .corrections import fitting, named, settled
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
from .english.elliptic_corrections import with_unit_of
from .english.no_preference import is_anything
from .english.tokens import tokens_of
from .flow import Confirm
from .run_flow import go_on
from .slot_names import only_named
from .state import Phase
from .templates import fill, gaps_of

_REACHED_BY = (SlotKind.PHONE, SlotKind.EMAIL)  # nobody says one of these in place of a yes


def answer_confirmation(d: DialogueDraft, text: str) -> None:
    """The first of these that it is."""
    tokens = tokens_of(text)
    name, said = command_of(tokens), named(d.domain, d.top, text, d.today)
    reading = read_confirmation(d.s.last_question, text, d.today, _confirmed_slots(d))
    answer = reading.answer if isinstance(reading, Confirmation) else None
    if not text.strip():
        missed(d)
    elif name is not None:
        _obey(d, () if repeats(d.s.last_question, tokens) else (BY_NAME[name],))
    elif postpones(tokens):
        _obey(d, (Wait(),))
    elif said is not None and said[1]:
        _obey(d, said[1])
    elif answer is ConfirmationAnswer.YES:
        say_yes(d, [])
        go_on(d)
    elif answer is ConfirmationAnswer.NO:
        say_no(d)
        go_on(d)
    elif said is None and (instead := _instead(d, text, reading)) is not None:
        _obey(d, instead)
    elif is_anything(tokens, frozenset()):
        missed(d)  # "I don't care" is neither a yes nor a reason to drop it
    else:
        correct_or_ask(d, text)


def _obey(d: DialogueDraft, commands: tuple[Command, ...]) -> None:
    d.enter(Phase.UNDERSTANDING)
    obey(d, commands)


def _instead(d: DialogueDraft, text: str, reading: Reading) -> tuple[Command, ...] | None:
    """What is to be another value, or is given along, if all of it is understood, or that two slots may be meant; None
    if it is something else."""
    if meant := _settled(d, text):
        return meant
    if len(slots := _fitting(d, text)) > 1:
        return (ChitChat(fill(d.domain.patterns.which, {"slots": [f"the {d.spec(name).called}" for name in slots]})),)
    if isinstance(reading, Confirmation) and (found := reading.values or _only_reading(d, text)):
        return tuple(CorrectSlot(one.slot, _anew(d, one), one.raw, one.span, "grammar") for one in found)
    if reached := _only_reading(d, text, _REACHED_BY):
        return tuple(CorrectSlot(one.slot, one.value, one.raw, one.span) for one in reached)
    return _given_along(d, text) or None if isinstance(reading, Unclear) else None


def _settled(d: DialogueDraft, text: str) -> tuple[Command, ...]:
    """ "The time", after "no, make it five", which may have been the people as well."""
    slot = only_named(d.domain, d.top.flow, text)
    said = [message.content for message in d.s.messages if message.role == "user"]
    if slot is None or len(said) < 2 or slot not in (slots := _fitting(d, said[-2])) or len(slots) < 2:
        return ()
    return settled(d.domain, d.top, slot, said[-2], d.today)


def _fitting(d: DialogueDraft, text: str) -> tuple[str, ...]:
    """The slots of the question that a new value may be of."""
    return fitting(d.domain, d.top, tuple(slot.name for slot in _confirmed_slots(d)), text, d.today)


def _given_along(d: DialogueDraft, text: str) -> tuple[SetSlot, ...]:
    """Neither yes nor no, but the answer to a question that is still to come: "at the bar"."""
    found = read_volunteered(empty_slots(d), text, d.flow.description, d.today)
    return given(found.values, "grammar") if found is not None else ()


def _anew(d: DialogueDraft, value: Value) -> Json:
    before = d.top.filled(value.slot)
    return with_unit_of(value.value, before.value if before is not None else None)


def _only_reading(d: DialogueDraft, text: str, kinds: tuple[SlotKind, ...] = tuple(SlotKind)) -> tuple[Value, ...]:
    """ "No, make it 600": the one slot of the question whose grammar reads it. An open name reads anything."""
    slots = [slot for slot in _confirmed_slots(d) if slot.kind is not SlotKind.TEXT and slot.kind in kinds]
    closed = [slot for slot in slots if slot.kind is not SlotKind.NAME or not slot.is_open]
    read_by = [reading for slot in closed if isinstance(reading := read(Question(slot), text, d.today), Direct)]
    return read_by[0].values if len(read_by) == 1 else ()


def _confirmed_slots(d: DialogueDraft) -> tuple[Slot, ...]:
    """The slots that the question is about: those that it names, or all."""
    at = d.flow.program[d.top.at]
    filled = [name for name, _ in d.top.slots if name in d.domain.slots]
    named = [name for name in gaps_of(at.text) if name in filled] if isinstance(at, Confirm) else []
    return tuple(d.spec(name).asked for name in named or filled)
