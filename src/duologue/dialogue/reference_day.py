"""Which day "the day after" is counted from, and which day a time is of: the one that is put right, or the last one
that was given.

Rule: a birthday is no day to count from, and neither is what is no day.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .english import Slot, SlotKind
from .flow import Domain, SlotSpec
from .state import Filled, Instance

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def asked_after(domain: Domain, instance: Instance, spec: SlotSpec) -> Slot:
    """A slot that is asked for, with the last day that was given for another."""
    if spec.kind not in (SlotKind.DATE, SlotKind.TIME):
        return spec.asked
    days = [
        (filled.turn, str(filled.value))
        for name, filled in instance.slots
        if name in domain.slots and name != spec.name and _is_day(domain.slots[name], filled)
    ]
    stays = spec.kind is SlotKind.DATE
    return replace(spec.asked, since=max(days, key=lambda day: day[0])[1], stays=stays) if days else spec.asked


def asked_anew(spec: SlotSpec, filled: Filled | None) -> Slot:
    """A slot that is put right, with the day that it has now."""
    is_day = filled is not None and _is_day(spec, filled)
    return replace(spec.asked, since=str(filled.value)) if filled is not None and is_day else spec.asked


def _is_day(spec: SlotSpec, filled: Filled) -> bool:
    is_date = spec.kind is SlotKind.DATE and not spec.is_past
    return is_date and isinstance(filled.value, str) and _DAY.fullmatch(filled.value) is not None
