"""Checks the slot values that a language model returned in normalised form (such as "2026-03-04" for "next Wednesday"),
before they become commands.

A model may return a value of the wrong type, in the wrong language, or one that doesn't exist. Rule: a value that
doesn't have the form of its slot is dropped, and so is a value that contradicts the words that the model quotes.
"""

from __future__ import annotations

import json
import re
from datetime import date

from duologue.dialogue.flow import SlotSpec
from duologue.dialogue.language.readings import Json, SlotKind
from duologue.nlu.understanding import ModelValue

_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_DURATION = re.compile(r"P(?=.)(?:\d+[YMWD])*(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+?\d{3,20}")
_CODE = re.compile(r"[A-Za-z0-9-]{1,40}")
_PATTERNS = {
    SlotKind.TIME: _TIME,
    SlotKind.DURATION: _DURATION,
    SlotKind.EMAIL: _EMAIL,
    SlotKind.PHONE: _PHONE,
    SlotKind.CODE: _CODE,
}
TEXT_CHARS_MAX = 300


def checked_value(spec: SlotSpec, given: ModelValue) -> Json:
    """The value that the model gave, if it has the form that its slot requires; otherwise None."""
    try:
        value = json.loads(given.written)
    except ValueError:
        return None
    match spec.kind:
        case SlotKind.NUMBER:
            return value if type(value) in (int, float) else None
        case SlotKind.YES_NO:
            return value if isinstance(value, bool) else None
        case SlotKind.MONEY:
            return value if _is_money(value) else None
        case SlotKind.CHOICE:
            return value if value in [choice.value for choice in spec.choices] else None
        case SlotKind.DATE:
            return value if isinstance(value, str) and _is_date(value) else None
        case SlotKind.NAME | SlotKind.TEXT:
            return _text(spec, value)
        case SlotKind.LIST:
            return None  # the items of a list are read by grammars only
    pattern = _PATTERNS[spec.kind]
    return value if isinstance(value, str) and pattern.fullmatch(value) else None


def _text(spec: SlotSpec, value: object) -> str | None:
    if not isinstance(value, str) or not value.strip() or len(value) > TEXT_CHARS_MAX or not value.isprintable():
        return None
    if spec.names is None or spec.is_open:
        return value
    return value if value in spec.names.values.values() else None


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_money(value: object) -> bool:
    if not isinstance(value, dict) or set(value) != {"amount", "currency"}:
        return False
    is_amount = type(value["amount"]) in (int, float) and value["amount"] >= 0
    return is_amount and isinstance(value["currency"], str) and len(value["currency"]) <= 3
