"""An amount that is put right without its unit: "make that four", of three days, "no, 95", of 90 euros.

Rule: the unit of before is kept only where there was just one.
"""

from __future__ import annotations

import re

from .gate import is_number
from .reading import Direct, Json, Reading
from .tokens import tokens_of

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
