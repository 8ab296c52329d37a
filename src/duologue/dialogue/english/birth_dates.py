"""Dates of birth: which questions ask for one, and how people say such a date: "twelve three eighty four", "12 03
1984".

Three numbers in a row are read as a date only for dates in the past. The first two are tried as month and day in both
orders, and each order that gives a real day is a candidate. Rule: a date of birth names its year, so a weekday,
"yesterday" or "March 5" is never read as a date of birth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache

from ..language.days import day_of
from .numbers import number_at
from .tokens import Token, stem, stems_of

_BIRTH = frozenset(map(stem, "birth birthday birthdate born birthdays dob".split()))

YearAt = Callable[[int], tuple[int, int] | None]


def birth_at(tokens: Sequence[Token], place: int, year_at: YearAt) -> tuple[tuple[date, ...], int] | None:
    """The days that three numbers in a row may mean, and the index of the token after them. None if they can't be a
    date. `year_at` reads the year that begins at a token."""
    numbers, at = [], place
    for _ in range(2):
        at += at < len(tokens) and tokens[at].word in ("oh", "zero")
        found = number_at(tokens, at)
        if found is None or not isinstance(found[0], int) or not 1 <= found[0] <= 31:
            return None
        numbers.append(found[0])
        at = found[1]
    year = year_at(at)
    if year is None or number_at(tokens, year[1]) is not None:
        return None
    days = [day_of(year[0], month, day) for month, day in (numbers, numbers[::-1])]
    real = tuple(dict.fromkeys(day for day in days if day is not None))
    return (real, year[1]) if real else None


@lru_cache(maxsize=512)
def is_about_birth(*texts: str) -> bool:
    """Do these texts (the name, label or question of a slot) mention a birth?"""
    return bool(stems_of(*texts) & _BIRTH)
