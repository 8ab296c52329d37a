"""Grammars: a plain reply to a question, understood without a model. `read` and `read_confirmation` are the way in."""

from .confirm import plainly, read_confirmation
from .names import NameList
from .parts import read_parts
from .read import read, read_volunteered
from .reading import (
    ANY,
    Ambiguous,
    Answer,
    Choice,
    Command,
    Confirmation,
    Direct,
    Json,
    Kind,
    Question,
    Reading,
    Slot,
    Unclear,
    Value,
    Why,
)

__all__ = [
    "ANY",
    "Ambiguous",
    "Answer",
    "Choice",
    "Command",
    "Confirmation",
    "Direct",
    "Json",
    "Kind",
    "NameList",
    "Question",
    "Reading",
    "Slot",
    "Unclear",
    "Value",
    "Why",
    "plainly",
    "read",
    "read_confirmation",
    "read_parts",
    "read_volunteered",
]
