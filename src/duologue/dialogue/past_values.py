"""Detects dates and times that have already passed.

Rule: only a slot marked `future` refuses such a value, and only if the current date is known. A time belongs to the day
that the user gave in the same message. If there is no such day, it belongs to the day that was given last.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .flow import SlotSpec
from .language.readings import SlotKind
from .reference_day import slot_with_last_day


def past_refusal(d: DialogueDraft, spec: SlotSpec, value: str) -> str:
    """The text with which the agent refuses a date or time that has passed. Empty if the value hasn't passed, or if the
    slot isn't marked `future`."""
    day, _, clock = d.today.partition("T")
    if not spec.is_future or not day:
        return ""
    if spec.kind is SlotKind.TIME:
        return d.domain.patterns.too_late if value < clock and _day_of(d, spec) == day else ""
    if value < day:
        return d.domain.patterns.passed
    return d.domain.patterns.too_late if value == day and _has_early_time(d, clock) else ""


def _day_of(d: DialogueDraft, spec: SlotSpec) -> str:
    """The day that a time belongs to: the day in the same message, or otherwise the day that was given last."""
    along = [str(one.value) for one in d.s.values if d.spec(one.slot).kind is SlotKind.DATE]
    return along[0] if along else slot_with_last_day(d.domain, d.top, spec).since


def _has_early_time(d: DialogueDraft, clock: str) -> bool:
    """Does another slot marked `future` hold a time that is earlier than `clock`? Slots that the current message fills
    are ignored."""
    along = {one.slot for one in d.s.values}
    times = [filled for name, filled in d.top.slots if name not in along and _is_future_time(d, name)]
    return any(str(filled.value) < clock for filled in times if isinstance(filled.value, str))


def _is_future_time(d: DialogueDraft, name: str) -> bool:
    spec = d.domain.slots.get(name)
    return spec is not None and spec.kind is SlotKind.TIME and spec.is_future
