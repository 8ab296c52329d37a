"""Reasons to refuse a value without calling a validator: the day has passed, or the value doesn't match the slot's
pattern.

Rule: these reasons are checked before a validator gets the value, so a validator gets only values of the right form.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .flow import SlotSpec
from .language.readings import ANY, Json
from .past_values import past_refusal
from .value_patterns import is_match


def refusal_of(d: DialogueDraft, spec: SlotSpec, value: Json) -> str:
    """The text with which the agent refuses the value; empty if the value may be used."""
    if value == ANY:
        return ""
    if reason := past_refusal(d, spec, str(value)):
        return reason
    if spec.pattern and not is_match(spec.pattern, str(value)):
        return spec.help or d.domain.patterns.invalid
    return ""
