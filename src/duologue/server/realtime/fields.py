"""Reads fields from a client's JSON, and checks their names, types and limits.

Rule: every problem names the path of its field, and an unknown field is a problem.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .refusal import EventRefused, invalid, missing, renamed, unknown, wrong_type

JsonObject = dict[str, Any]


def check_names(
    given: JsonObject, known: Collection[str], path: str = "", beta: Mapping[str, str] | None = None
) -> None:
    """Raise EventRefused if there is an unknown field. For a field name from the protocol's beta version, the error
    says the new name."""
    for name in given:
        if name not in known:
            if beta is not None and name in beta:
                raise renamed(f"{path}{name}", beta[name])
            raise unknown(f"{path}{name}")


def read_text(given: JsonObject, name: str, path: str = "", chars_max: int | None = None) -> str:
    """A required text."""
    if name not in given:
        raise missing(f"{path}{name}")
    value = given[name]
    if not isinstance(value, str):
        raise wrong_type(f"{path}{name}", "a string")
    if chars_max is not None and len(value) > chars_max:
        raise invalid(f"{path}{name}", f"it has {len(value)} characters, and at most {chars_max} are allowed")
    return value


def optional_text(given: JsonObject, name: str, path: str = "", chars_max: int | None = None) -> str | None:
    """A text, or None if it is missing or null."""
    return None if given.get(name) is None else read_text(given, name, path, chars_max)


def read_whole(given: JsonObject, name: str, path: str = "", least: int = 0, most: int = 1 << 31) -> int:
    """A required whole number within these limits."""
    if name not in given:
        raise missing(f"{path}{name}")
    value = given[name]
    if type(value) is not int:
        raise wrong_type(f"{path}{name}", "an integer")
    if not least <= value <= most:
        raise invalid(f"{path}{name}", f"it must be from {least} to {most}")
    return value


def read_object(value: Any, path: str) -> JsonObject:
    if not isinstance(value, dict):
        raise wrong_type(path, "an object")
    return value


def one_of(value: Any, path: str, allowed: Collection[Any]) -> Any:
    if not isinstance(value, str | bool | int | float) or value not in allowed:
        raise invalid(path, f"supported values are: {', '.join(repr(one) for one in allowed)}")
    return value


def read_metadata(value: Any, path: str) -> JsonObject | None:
    """Up to 16 pairs of texts; None if the field is missing or null."""
    if value is None:
        return None
    pairs = read_object(value, path)
    if len(pairs) > 16:
        raise EventRefused("invalid_value", f"Invalid value for '{path}': at most 16 pairs are allowed.", path)
    for name, text in pairs.items():
        if not isinstance(text, str) or len(text) > 512 or len(name) > 64:
            raise invalid(path, "names may have up to 64 characters, and values must be strings of up to 512")
    return pairs
