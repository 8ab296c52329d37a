"""A value that is put right with fewer words than it was given: "make that four", of three days, "no, 95", of 90 euros,
"no, at four", of half past four in the morning.

Rule: what isn't said again is that of before only where there was just one way to say it.
"""

from __future__ import annotations

import re

from .explained_words import is_number
from .readings import Direct, Json, Reading
from .tokens import tokens_of

NEAR_MINUTES_MAX = 180
_PER_DAY = 1440
_CLOCK = re.compile(r"(\d\d):(\d\d)")
_ONE_UNIT = re.compile(r"(PT?)\d+([YMWDHS])")


def with_unit_of(value: Json, before: Json) -> Json:
    """Money without a currency in that of before."""
    if not isinstance(value, dict) or not isinstance(before, dict) or value.get("currency") is not None:
        return value
    return {**value, "currency": before.get("currency")} if "amount" in value else value


def counted_anew(count: Reading, before: Json) -> Json:
    """As long as the new count tells, in the unit of before; None if that can't be."""
    one = _ONE_UNIT.fullmatch(before) if isinstance(before, str) else None
    said = count.values[0] if isinstance(count, Direct) else None
    if one is None or said is None or not is_number(tokens_of(said.raw)[-1].low):
        return None  # "four people" are no days
    number = said.value
    if not isinstance(number, int) or number < 1:
        return None
    return f"{one[1]}{number}{one[2]}"


def nearest(times: tuple[Json, ...], before: Json) -> Json:
    """Of a time in the morning and in the evening the one near to that of before; None if neither is, or both."""
    near = [time for time in times if abs(_minutes(time) - _minutes(before)) <= NEAR_MINUTES_MAX]
    return near[0] if len(near) == 1 else None


def _minutes(time: Json) -> int:
    found = _CLOCK.fullmatch(time) if isinstance(time, str) else None
    return int(found[1]) * 60 + int(found[2]) if found is not None else -_PER_DAY
