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
    """Turn errors in the `with` block into NotRestorable. `what` names the data that can't be read, such as "the open
    request", for the message."""
    try:
        yield
    except NotRestorable:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
        raise NotRestorable(f"the saved data is invalid: {what} can't be read ({type(problem).__name__})") from None


def whole(value: Any) -> int:
    """The value, checked to be a whole number that isn't negative."""
    if type(value) is not int or value < 0:
        raise NotRestorable("the saved data is invalid: a number is negative or isn't whole")
    return value


def number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise NotRestorable("the saved data is invalid: a value isn't a finite number")
    return float(value) if type(value) is float else value


def text(value: Any) -> str:
    if type(value) is not str:
        raise NotRestorable("the saved data is invalid: a text isn't a string")
    return value


def pairs(value: Any) -> list[tuple[Any, Any]]:
    """The value, checked to be a list of pairs. A dict whose keys are numbers is stored as a list of (key, value)
    pairs, because JSON allows only texts as keys."""
    if type(value) is not list or any(type(pair) is not list or len(pair) != 2 for pair in value):
        raise NotRestorable("the saved data is invalid: a value isn't a list of pairs")
    return [(key, item) for key, item in value]


def texts_by_number(value: Any) -> dict[int, str]:
    return {whole(key): text(item) for key, item in pairs(value)}


def numbers(value: Any) -> dict[int, int]:
    return {whole(key): whole(item) for key, item in pairs(value)}
