"""Checks of stored data. A store may be damaged, or written by another program.

Rule: each function returns a value of the declared type or raises NotRestorable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .checkpoint import NotRestorable


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn errors in the `with` block into NotRestorable. `what` names the data that is read, for the message."""
    try:
        yield
    except NotRestorable:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
        raise NotRestorable(f"{what} can't be read: {type(problem).__name__}") from None


def whole(value: Any) -> int:
    """The value, checked to be a whole number that isn't negative."""
    if type(value) is not int or value < 0:
        raise NotRestorable("a saved number is invalid: it must be whole and not negative")
    return value


def number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise NotRestorable("a saved number is invalid: it must be finite")
    return float(value) if type(value) is float else value


def text(value: Any) -> str:
    if type(value) is not str:
        raise NotRestorable("a saved text is invalid: it must be a string")
    return value


def pairs(value: Any) -> list[tuple[Any, Any]]:
    """The value, checked to be a list of pairs. A dict whose keys are numbers is stored as a list of (key, value)
    pairs, because JSON allows only texts as keys."""
    if type(value) is not list or any(type(pair) is not list or len(pair) != 2 for pair in value):
        raise NotRestorable("a saved list of pairs is invalid")
    return [(key, item) for key, item in value]


def texts_by_number(value: Any) -> dict[int, str]:
    return {whole(key): text(item) for key, item in pairs(value)}


def numbers(value: Any) -> dict[int, int]:
    return {whole(key): whole(item) for key, item in pairs(value)}
