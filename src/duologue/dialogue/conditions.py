"""Conditions in flows, such as `amount > 100 and currency == "EUR"`. A condition can only read slots.

Conditions are written in a small subset of Python's expression grammar. They are parsed when a flow is loaded and
evaluated by walking the syntax tree, so no code is ever run. Rule: an unfilled slot is None, and comparing None with <,
<=, > or >= is false.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from operator import add, eq, ge, gt, le, lt, mul, ne, sub, truediv

LENGTH_MAX = 500
_COMPARE: dict[type[ast.cmpop], Callable[[object, object], bool]] = {ast.Eq: eq, ast.NotEq: ne}
_ORDER: dict[type[ast.cmpop], Callable[..., bool]] = {ast.Lt: lt, ast.LtE: le, ast.Gt: gt, ast.GtE: ge}
_ARITHMETIC: dict[type[ast.operator], Callable[..., int | float]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
}
_CONSTANTS = {"true": True, "false": False, "none": None}


class BadCondition(ValueError):
    """The text isn't a valid condition. The message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A valid condition: its text, and the names of the slots that it reads."""

    text: str
    names: tuple[str, ...]

    @property
    def constants(self) -> tuple[str | int | float | bool, ...]:
        """The literal values with which the condition compares slots, such as 100 in `amount > 100`."""
        found = [node.value for node in ast.walk(_tree(self.text)) if isinstance(node, ast.Constant)]
        return tuple(dict.fromkeys(value for value in found if isinstance(value, str | int | float)))

    def holds(self, values: Mapping[str, object]) -> bool:
        return bool(_value(_tree(self.text), values))


@lru_cache(1_000)
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def parse(text: str) -> Condition:
    """Parse a condition. Raises BadCondition if the text isn't a valid condition."""
    if len(text) > LENGTH_MAX:
        raise BadCondition(f"the condition has {len(text)} characters; at most {LENGTH_MAX} are allowed")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise BadCondition(f"{text!r} isn't a valid condition; write for example: amount > 100") from None
    names: list[str] = []
    _check(tree, names)
    return Condition(text.strip(), tuple(dict.fromkeys(names)))


def _check(node: ast.expr, names: list[str]) -> None:
    match node:
        case ast.Name():
            if node.id.lower() not in _CONSTANTS:
                names.append(node.id)
        case ast.Constant():
            if not isinstance(node.value, str | int | float | bool | None):
                raise BadCondition(f"{node.value!r} can't be compared; use a text, a number, true, false or none")
        case ast.List() | ast.Tuple():
            for part in node.elts:
                _check(part, names)
        case ast.BoolOp():
            for part in node.values:
                _check(part, names)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            _check(node.operand, names)
        case ast.Compare():
            for part in (node.left, *node.comparators):
                _check(part, names)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            _check(node.left, names)
            _check(node.right, names)
        case _:
            allowed = "slots, values, comparisons, + - * /, and, or, not"
            raise BadCondition(f"{ast.unparse(node)!r} isn't allowed; use {allowed}")


def _value(node: ast.expr, values: Mapping[str, object]) -> object:
    match node:
        case ast.Name():
            constant = node.id.lower()
            return _CONSTANTS[constant] if constant in _CONSTANTS else values.get(node.id)
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple():
            return [_value(part, values) for part in node.elts]
        case ast.BoolOp(op=ast.And()):
            return all(_value(part, values) for part in node.values)
        case ast.BoolOp():
            return any(_value(part, values) for part in node.values)
        case ast.UnaryOp(op=ast.Not()):
            return not _value(node.operand, values)
        case ast.UnaryOp():
            operand = _value(node.operand, values)
            return -operand if isinstance(operand, int | float) else None
        case ast.Compare():
            return _compared(node, values)
        case ast.BinOp():
            return _calculated(node, values)
    raise AssertionError(ast.dump(node))


def _calculated(node: ast.BinOp, values: Mapping[str, object]) -> int | float | None:
    """The result of a calculation. None if an operand isn't a number or the result isn't finite. (Comparing None with
    <, <=, > or >= is false.)"""
    left, right = (_number(_value(part, values)) for part in (node.left, node.right))
    if left is None or right is None:
        return None
    try:
        result = _ARITHMETIC[type(node.op)](left, right)
    except (ZeroDivisionError, OverflowError):
        return None
    return result if isinstance(result, int) or isfinite(result) else None


def _number(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _compared(node: ast.Compare, values: Mapping[str, object]) -> bool:
    left = _value(node.left, values)
    for sign, part in zip(node.ops, node.comparators, strict=True):
        right = _value(part, values)
        if not _holds(type(sign), left, right):
            return False
        left = right
    return True


def _is_in(left: object, right: object) -> bool:
    if isinstance(right, str):
        return isinstance(left, str) and left in right
    return isinstance(right, list) and left in right


def _holds(sign: type[ast.cmpop], left: object, right: object) -> bool:
    if sign in _COMPARE:
        return _COMPARE[sign](left, right)
    if sign is ast.Is:
        return left is right
    if sign is ast.IsNot:
        return left is not right
    if sign in (ast.In, ast.NotIn):
        return _is_in(left, right) is (sign is ast.In)
    if left is None or right is None:
        return False
    try:
        return bool(_ORDER[sign](left, right))
    except TypeError:
        return False
