"""Turns pydantic's errors into plain messages that say where in the file the error is.

Rule: a message says what was found, what is expected, and the name that was probably meant.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from .problems import Path, ProblemList, hint, kind_shown, quoted
from .schema import CASE_KEYS, MAIN_KEYS, NAME, NOT_BLANK, FileEntry, keys_at

_WANTED = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}


def check_schema(data: object, notes: ProblemList) -> FileEntry | None:
    """Convert the content of the file to typed entries. If the file doesn't fit the schema, add every mismatch to
    `notes` and return None."""
    try:
        return FileEntry.model_validate(data)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _note(detail, notes)
        return None


def _note(detail: ErrorDetails, notes: ProblemList) -> None:
    place = detail["loc"]
    path = _path(place)
    found = detail["input"]
    match detail["type"]:
        case "extra_forbidden":
            text = f"unknown key {quoted(str(path[-1]))}{hint(str(path[-1]), keys_at(place[:-1]))}"
            notes.add(path[:-1], text, at=path[-1])
        case "missing":
            notes.add(path[:-1], _missing(str(path[-1])))
        case "union_tag_not_found":
            _note_untagged(path, found, notes)
        case kind:
            notes.add(path, _wrong(kind, found, detail))


def _path(place: tuple[str | int, ...]) -> Path:
    """The path in the file, made from the location in a pydantic error. The names that pydantic adds for members of
    unions are left out."""
    return tuple(part for part in place if isinstance(part, int) or not _is_tag(part))


def _is_tag(part: str) -> bool:
    return part == "[key]" or (part.startswith("<") and part.endswith(">"))


def _missing(key: str) -> str:
    return "`version: 1` is missing" if key == "version" else f"`{key}` is missing"


def _note_untagged(path: Path, found: Any, notes: ProblemList) -> None:
    """Report a step or a branch case that has no key that says what it does, or more than one such key."""
    is_case = len(path) > 1 and path[-2] == "branch"
    what, known = ("a case", CASE_KEYS) if is_case else ("a step", MAIN_KEYS)
    if not isinstance(found, dict) or not found:
        shown = "an empty mapping" if found == {} else kind_shown(found)
        example = "if: amount > 100" if is_case else "say: Hello!"
        notes.add(path, f"{what} must be a mapping, such as `{example}`, not {shown}")
        return
    named = [key for key in found if key in known]
    if named:
        text = f"{what} can't have both `{named[0]}` and `{named[1]}`; write them as two list items"
        notes.add(path, text, at=named[1])
        return
    options = {"id", "prompt", "steps", "slots", "outputs", "barge_in", "then", "on_no", "on_failure", "waiting"}
    name = next((key for key in found if key not in options), next(iter(found)))
    notes.add(path, f"unknown {what[2:]} {quoted(name)}{hint(name, known)}", at=name)


def _wrong(kind: str, found: Any, detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    if kind in _WANTED:
        advice = "; put it in quotes" if kind == "string_type" and isinstance(found, int | float) else ""
        return f"must be {_WANTED[kind]}, not {kind_shown(found)}{advice}"
    match kind:
        case "enum" | "literal_error":
            return _not_one_of(str(context["expected"]), found)
        case "string_pattern_mismatch" if context["pattern"] == NOT_BLANK:
            return "must not be empty"
        case "string_pattern_mismatch" if context["pattern"] == NAME:
            return f"{kind_shown(found)} isn't a valid name; use up to 64 letters, digits and _, without a digit first"
        case "string_too_long":
            return f"is too long; at most {context['max_length']} characters are allowed"
        case "too_short" | "too_long" if context.get("min_length", 0) > 1 or "max_length" in context:
            length = context.get("min_length", context.get("max_length"))
            return f"must have {length} items, not {context['actual_length']}"
        case "too_short":
            return "must not be empty; add at least one item"
        case "greater_than_equal":
            return f"must be at least {context['ge']}, not {found}"
        case "less_than_equal":
            return f"must be at most {context['le']}, not {found}"
    return str(detail["msg"])


def _not_one_of(expected: str, found: Any) -> str:
    """The message about a value that isn't allowed. `expected` is the list of allowed values from pydantic, such as
    "'a', 'b' or 'c'"."""
    if "'" not in expected:
        return f"must be {expected.lower()}, not {kind_shown(found)}"
    known = [name.strip("' ") for name in expected.replace(" or ", ", ").split(",")]
    return f"{kind_shown(found)} isn't allowed here{hint(str(found), known)}"
