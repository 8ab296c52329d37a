"""Reading back what a conversation had dumped. A store may be damaged, or written by somebody else.

Rule: what comes out of here is what its type says, or it is NotRestorable; nobody finds out later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .checkpoint import NotRestorable


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Whatever is wrong in here is told as one thing."""
    try:
        yield
    except NotRestorable:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
        raise NotRestorable(f"{what} can't be read: {type(problem).__name__}") from None


def whole(value: Any) -> int:
    """A whole number from 0 on."""
    if type(value) is not int or value < 0:
        raise NotRestorable("a number is wrong")
    return value


def number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise NotRestorable("a number is wrong")
    return float(value) if type(value) is float else value


def text(value: Any) -> str:
    if type(value) is not str:
        raise NotRestorable("a text is wrong")
    return value


def pairs(value: Any) -> list[tuple[Any, Any]]:
    """A dict, as JSON keeps one whose keys are numbers."""
    if type(value) is not list or any(type(pair) is not list or len(pair) != 2 for pair in value):
        raise NotRestorable("a list of pairs is wrong")
    return [(key, kept) for key, kept in value]


def texts_by_number(value: Any) -> dict[int, str]:
    return {whole(key): text(kept) for key, kept in pairs(value)}


def numbers(value: Any) -> dict[int, int]:
    return {whole(key): whole(kept) for key, kept in pairs(value)}
