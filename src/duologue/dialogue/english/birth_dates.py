"""Days of birth that are read out as three numbers: "twelve three eighty four", "12 03 1984".

Rule: only of a day that has passed, and both orders of month and day are told where both are days.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .calendar import day_number, is_day
from .numbers import number_at
from .tokens import Token

YearAt = Callable[[int], tuple[int, int] | None]


def birth_at(tokens: Sequence[Token], place: int, year_at: YearAt) -> tuple[tuple[int, ...], int] | None:
    """The days that three numbers in a row may be, and the place after them."""
    numbers, at = [], place
    for _ in range(2):
        at += at < len(tokens) and tokens[at].low in ("oh", "zero")
        found = number_at(tokens, at)
        if found is None or not isinstance(found[0], int) or not 1 <= found[0] <= 31:
            return None
        numbers.append(found[0])
        at = found[1]
    year = year_at(at)
    if year is None or number_at(tokens, year[1]) is not None:
        return None
    orders = (numbers, numbers[::-1])
    days = [day_number(year[0], month, day) for month, day in orders if is_day(year[0], month, day)]
    return (tuple(dict.fromkeys(days)), year[1]) if days else None
