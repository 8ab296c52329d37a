"""Converts the results of workers to text for a brain.

Rule: every value can be converted, if necessary with `str`. Only raw bytes raise TypeError, because no brain can read
them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AnySet
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from typing import Any

FAILURE_CHARS_MAX = 1000  # longest error message of a tool
EXCEPTION_CHARS_MAX = 200  # longest message of an exception that a tool raises
NOTICE = " [… shortened]"


def result_text(value: object) -> str:
    """The value as text. Text is unchanged, None becomes "done", and other values become compact JSON. A value that
    JSON can't express becomes its `str`."""
    if value is None:
        return "done"
    try:
        plain = _plain(value)
    except RecursionError:  # the value contains itself
        return str(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def json_arguments(arguments: object) -> dict[str, Any] | str:
    """The arguments in a form that JSON can store. Text is unchanged, and a mapping becomes a dict of plain values. Any
    other value becomes text. (No tool accepts text as its arguments, so the tool call will be refused.)"""
    if isinstance(arguments, str):
        return arguments
    try:
        text = json.dumps(_plain(arguments), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return str(arguments)
    plain = json.loads(text)
    return plain if isinstance(plain, dict) else text


def failure_text(failure: BaseException) -> str:
    """The text that tells a model about an exception in a tool: the class of the exception, and the first line of its
    message."""
    first = next(iter(str(failure).strip().splitlines()), "")
    name = type(failure).__name__
    return f"{name}: {shorten(first, EXCEPTION_CHARS_MAX)}" if first else name


def shorten(text: str, chars_max: int, notice: str = NOTICE) -> str:
    """The text, unchanged if it has at most `chars_max` characters. A longer text is cut between two words and ends in
    `notice`."""
    if len(text) <= chars_max:
        return text
    room = chars_max - len(notice)
    if room < 0:
        raise ValueError(f"chars_max must be at least {len(notice)}, the length of the notice, not {chars_max}")
    kept = text[:room]
    if not text[room].isspace() and not kept[-1:].isspace():
        between_words = kept.rsplit(maxsplit=1)[0] if len(kept.split()) > 1 else ""
        # A very long word is cut in the middle rather than dropped.
        kept = between_words if len(between_words) * 2 >= room else kept
    return kept.rstrip() + notice


def _plain(value: Any) -> Any:
    """The value, converted to types that JSON can express."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        raise TypeError("a tool returned bytes, which a brain can't read: return text instead")
    if isinstance(value, Mapping):
        return {_key(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, AnySet):
        return [_plain(inner) for inner in sorted(value, key=repr)]  # a set has no order
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return dump(mode="json")  # pydantic, without importing it
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def _key(key: object) -> str:
    plain = _plain(key)
    return plain if isinstance(plain, str) else json.dumps(plain)
