"""Walks through the raw data of a flow file, valid or not.

Finds the steps of every flow at any depth, and the texts and names in them. Rule: an entry of the wrong shape is
skipped, because the schema check has already reported it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .problems import Path
from .schema import main_key_of

ASKING = ("collect", "confirm")
LEAVING = ("link", "handoff", "end")


class LocatedStep(NamedTuple):
    """A step, and where it is in the file. `key` is the key that says what the step does."""

    flow: str
    path: Path
    key: str
    step: dict[str, Any]

    def text(self, key: str) -> str | None:
        """The text under a key; None if the key is missing or its value isn't a text."""
        value = self.step.get(key)
        return value if isinstance(value, str) else None


def entries_of(data: Any, section: str) -> dict[str, dict[str, Any]]:
    """The entries of a section, by name. Entries that aren't mappings are left out."""
    found = data.get(section) if isinstance(data, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def steps_of(data: Any) -> Iterator[LocatedStep]:
    """Every step of every flow, from top to bottom."""
    for flow, entry in entries_of(data, "flows").items():
        yield from steps_in(flow, entry.get("steps"), ("flows", flow, "steps"))


def steps_in(flow: str, steps: Any, path: Path) -> Iterator[LocatedStep]:
    """Every step of a list, and the steps nested in them."""
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        key = main_key_of(step)
        if key is None:
            continue
        here = LocatedStep(flow, (*path, number), key, step)
        yield here
        for inner, body in bodies_of(here):
            yield from steps_in(flow, body, inner)


def bodies_of(at: LocatedStep) -> Iterator[tuple[Path, list[Any]]]:
    """The lists of steps nested in a step."""
    keys = {"while": ("steps",), "action": ("on_failure",), "confirm": ("on_no",), "faq": ("on_no_answer",)}.get(
        at.key, ()
    )
    for key in keys:
        if isinstance(at.step.get(key), list):
            yield (*at.path, key), at.step[key]
    for number, case in enumerate(cases_of(at)):
        for key in ("steps", "else"):
            if isinstance(case, dict) and isinstance(case.get(key), list):
                yield (*at.path, "branch", number, key), case[key]


def cases_of(at: LocatedStep) -> list[Any]:
    cases = at.step.get("branch") if at.key == "branch" else None
    return cases if isinstance(cases, list) else []


def conditions_of(at: LocatedStep) -> Iterator[tuple[Path, str, str]]:
    """The conditions of a step: path, key and text of each."""
    if (text := at.text("while")) is not None and at.key == "while":
        yield at.path, "while", text
    for number, case in enumerate(cases_of(at)):
        if isinstance(case, dict) and isinstance(case.get("if"), str):
            yield (*at.path, "branch", number), "if", case["if"]


def pairs_of(value: Any) -> list[tuple[str, str]]:
    """Pairs of names. A mapping gives pairs of a key and its value. A list gives pairs in which both names are the
    same."""
    if isinstance(value, list):
        return [(name, name) for name in value if isinstance(name, str)]
    if isinstance(value, dict):
        return [(one, other) for one, other in value.items() if isinstance(other, str)]
    return []


def texts_of(value: Any) -> list[str]:
    """The texts in a list. A single text becomes a list with one text; any other value becomes an empty list."""
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def choices_of(slot: dict[str, Any], *, with_also: bool = True) -> list[str]:
    """The choices of a slot. With `with_also`, the list also has the other phrases for each choice."""
    found = []
    choices = slot.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        entry = choice if isinstance(choice, dict) else {"value": choice}
        found += texts_of(entry.get("value")) + (texts_of(entry.get("also")) if with_also else [])
    return found
