"""Grammars that understand plain replies in English without a model. Start with `read` and `read_confirmation`."""

from ..language.readings import (
    ANY,
    Ambiguous,
    Choice,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Json,
    Question,
    Reading,
    Slot,
    SlotKind,
    SpokenCommand,
    Unclear,
    Value,
    Why,
)
from .embedded_values import read_parts
from .names import NameList
from .read_confirmation import plain_answer, read_confirmation, says_yes_then_asks
from .read_reply import read, read_volunteered

__all__ = [
    "ANY",
    "Ambiguous",
    "Choice",
    "Confirmation",
    "ConfirmationAnswer",
    "Direct",
    "Json",
    "NameList",
    "Question",
    "Reading",
    "Slot",
    "SlotKind",
    "SpokenCommand",
    "Unclear",
    "Value",
    "Why",
    "plain_answer",
    "read",
    "read_confirmation",
    "read_parts",
    "read_volunteered",
    "says_yes_then_asks",
]
