"""What pydantic found, in our words and with the place in the file.

Rule: a complaint says what is there, what should be, and the name that was probably meant.
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
    """The file as entries; None if it doesn't fit, and then everything that doesn't is noted."""
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
            text = f"no key {quoted(str(path[-1]))} here{hint(str(path[-1]), keys_at(place[:-1]))}"
            notes.add(path[:-1], text, at=path[-1])
        case "missing":
            notes.add(path[:-1], _missing(str(path[-1])))
        case "union_tag_not_found":
            _note_untold(path, found, notes)
        case kind:
            notes.add(path, _wrong(kind, found, detail))


def _path(place: tuple[str | int, ...]) -> Path:
    """Without the names of unions."""
    return tuple(part for part in place if isinstance(part, int) or not _is_tag(part))


def _is_tag(part: str) -> bool:
    return part == "[key]" or (part.startswith("<") and part.endswith(">"))


def _missing(key: str) -> str:
    return "needs 'version: 1'" if key == "version" else f"needs {key!r}"


def _note_untold(path: Path, found: Any, notes: ProblemList) -> None:
    """A step or a case that doesn't say which one it is."""
    is_case = len(path) > 1 and path[-2] == "branch"
    what, known = ("a case", CASE_KEYS) if is_case else ("a step", MAIN_KEYS)
    if not isinstance(found, dict) or not found:
        shown = "nothing" if found == {} else kind_shown(found)
        notes.add(path, f"{what} must be a mapping, such as {'if: …' if is_case else 'say: Hello!'}, not {shown}")
        return
    named = [key for key in found if key in known]
    if named:
        text = f"{named[0]} and {named[1]} are two {what[2:]}s: each needs an item of its own"
        notes.add(path, text, at=named[1])
        return
    options = {"id", "prompt", "steps", "slots", "outputs", "barge_in", "then", "on_no", "on_failure", "waiting"}
    name = next((key for key in found if key not in options), next(iter(found)))
    notes.add(path, f"no {what[2:]} {quoted(name)}{hint(name, known)}", at=name)


def _wrong(kind: str, found: Any, detail: ErrorDetails) -> str:
    told = detail.get("ctx", {})
    if kind in _WANTED:
        advice = ": put it in quotes" if kind == "string_type" and isinstance(found, int | float) else ""
        return f"must be {_WANTED[kind]}, not {kind_shown(found)}{advice}"
    match kind:
        case "enum" | "literal_error":
            return _not_one_of(str(told["expected"]), found)
        case "string_pattern_mismatch" if told["pattern"] == NOT_BLANK:
            return "is empty"
        case "string_pattern_mismatch" if told["pattern"] == NAME:
            return f"{kind_shown(found)} is no name: letters, digits and _, not more than 64, no digit first"
        case "string_too_long":
            return f"too long: more than {told['max_length']} characters"
        case "too_short" | "too_long" if told.get("min_length", 0) > 1 or "max_length" in told:
            return f"must have {told.get('min_length', told.get('max_length'))} items, not {told['actual_length']}"
        case "too_short":
            return "is empty: at least one is needed"
        case "greater_than_equal":
            return f"must be at least {told['ge']}, not {found}"
        case "less_than_equal":
            return f"must be at most {told['le']}, not {found}"
    return str(detail["msg"])


def _not_one_of(expected: str, found: Any) -> str:
    """Pydantic lists what there is as Python writes it."""
    if "'" not in expected:
        return f"must be {expected.lower()}, not {kind_shown(found)}"
    known = [name.strip("' ") for name in expected.replace(" or ", ", ").split(",")]
    return f"{kind_shown(found)} is not known here{hint(str(found), known)}"
