"""Finds conditions that can never be true: a slot compared with a value that it can't have.

Examples: `amount > 500` for a slot of type money, which holds an amount with its currency and not a number; `seat ==
"isle"` without such a choice. Rule: only slots whose values come from the user alone are checked. A slot that a
function or a step may fill can have any value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from duologue.dialogue.conditions import BadCondition, parse
from duologue.dialogue.language.readings import ANY, SlotKind

from .problems import ProblemList, hint, quoted
from .step_walk import LocatedStep, choices_of, conditions_of, entries_of, pairs_of, steps_of

_CONSTANTS = {"true": True, "false": False}
_HOLDS = {SlotKind.NUMBER: "a number", SlotKind.YES_NO: "true or false", SlotKind.MONEY: "an amount with its currency"}


def check_comparisons(data: Any, notes: ProblemList) -> None:
    """Report every condition that compares a slot with a value that the slot can't have, or that calculates with a slot
    that isn't a number. The problems are added to `notes`."""
    slots = entries_of(data, "slots")
    free = {name for name, slot in slots.items() if "normaliser" in slot}
    free |= {name for at in steps_of(data) for name in _filled_by(at)}
    judged = {name: slot for name, slot in slots.items() if name not in free and slot.get("type") in tuple(SlotKind)}
    for at in steps_of(data):
        for path, key, text in conditions_of(at):
            for name, value in _comparisons(text):
                if name in judged and (why := _objection(name, judged[name], value)):
                    notes.add(path, why, at=key)
            for name in _calculated(text):
                kind = judged[name]["type"] if name in judged else SlotKind.NUMBER
                if kind != SlotKind.NUMBER:
                    notes.add(path, f"slot {quoted(name)} has type {kind}; a calculation needs numbers", at=key)


def _filled_by(at: LocatedStep) -> Iterator[str]:
    """The slots that a step fills with values that don't come from the user."""
    yield from (ours for _, ours in pairs_of(at.step.get({"action": "outputs", "call": "takes"}.get(at.key, ""))))
    yield from (theirs for _, theirs in pairs_of(at.step.get("gives")))
    values = at.step.get("set") if at.key == "set" else None
    yield from (name for name, value in (values if isinstance(values, dict) else {}).items() if value is not None)


def _calculated(text: str) -> tuple[str, ...]:
    """The slots that are used in calculations in this condition, such as `seats` in `seats + 1 > 5`."""
    try:
        tree = ast.parse(parse(text).text, mode="eval")
    except (BadCondition, RecursionError):
        return ()
    parts = [part for node in ast.walk(tree) if isinstance(node, ast.BinOp) for part in (node.left, node.right)]
    return tuple(dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name)))


def _comparisons(text: str) -> Iterator[tuple[str, object]]:
    """The comparisons in a condition, as pairs: a slot, and the value that it is compared with."""
    try:
        tree = ast.parse(parse(text).text, mode="eval")
    except (BadCondition, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for left, right in pairwise((node.left, *node.comparators)):
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, ast.Name):
                        yield from ((one.id, value) for value in _values_in(other))


def _values_in(node: ast.expr) -> Iterator[object]:
    match node:
        case ast.Constant():
            yield node.value
        case ast.Name() if node.id.lower() in _CONSTANTS:
            yield _CONSTANTS[node.id.lower()]
        case ast.UnaryOp():
            yield from _values_in(node.operand)
        case ast.List() | ast.Tuple():
            for part in node.elts:
                yield from _values_in(part)


def _objection(name: str, slot: dict[str, Any], value: object) -> str:
    if value is None or value == ANY:
        return ""
    kind = SlotKind(slot["type"])
    if kind is SlotKind.MONEY:
        return f"slot {name!r} holds {_HOLDS[kind]}; to compare it, add a normaliser that returns a number"
    fits = {SlotKind.NUMBER: type(value) in (int, float), SlotKind.YES_NO: isinstance(value, bool)}
    if not fits.get(kind, isinstance(value, str)):
        return f"slot {name!r} holds {_HOLDS.get(kind, 'a text')} and is never {_shown(value)}"
    choices = choices_of(slot, with_also=False)
    if choices and value not in choices:
        return f"{_shown(value)} isn't a choice of slot {name!r}{hint(str(value), choices)}"
    return ""


def _shown(value: object) -> str:
    return quoted(value) if isinstance(value, str) else str(value).lower()
