"""The reference day of a date or time slot: the day that "the day after" is counted from, and that a time belongs to.

The reference day is the day being corrected, or the last day that was given. Rule: a day in a slot for past dates (a
birthday) is never the reference day of another slot.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from .flow import Domain, SlotSpec
from .language.readings import Slot, SlotKind
from .state import Filled, Instance


def slot_with_last_day(domain: Domain, instance: Instance, spec: SlotSpec) -> Slot:
    """What the grammars need to know about the slot. For a date or a time, this includes the reference day: the day
    that was given last for another slot."""
    if spec.kind not in (SlotKind.DATE, SlotKind.TIME):
        return spec.grammar_slot
    days = [
        (filled.turn, str(filled.value))
        for name, filled in instance.slots
        if name in domain.slots
        and name != spec.name
        and not domain.slots[name].is_past
        and _is_day(domain.slots[name], filled)
    ]
    stays = spec.kind is SlotKind.DATE
    return (
        replace(spec.grammar_slot, since=max(days, key=lambda day: day[0])[1], stays=stays)
        if days
        else spec.grammar_slot
    )


def slot_to_correct(spec: SlotSpec, filled: Filled | None) -> Slot:
    """What the grammars need to know about the slot to read a correction. If the slot already holds a day, "the day
    after" is counted from that day."""
    is_day = filled is not None and _is_day(spec, filled)
    return replace(spec.grammar_slot, since=str(filled.value)) if filled is not None and is_day else spec.grammar_slot


def _is_day(spec: SlotSpec, filled: Filled) -> bool:
    """Does the slot hold a date that can be a reference day? The date must exist in the calendar, because your program
    or NLU may have filled in a date such as February 30."""
    if spec.kind is not SlotKind.DATE or not isinstance(filled.value, str) or len(filled.value) != 10:
        return False
    try:
        date.fromisoformat(filled.value)
    except ValueError:
        return False
    return True
