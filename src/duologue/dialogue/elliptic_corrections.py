"""Corrections that leave out what stays the same: "make that four" after three days, "no, 95" after 90 euros, "no, at
four" after half past four in the morning.

Rule: the missing part (the unit, the currency, or morning or evening) is taken from the old value, but only if the
reply then has just one meaning.
"""

from __future__ import annotations

import re

from .language.pack import LanguageWords
from .language.readings import Direct, Json, Reading

NEAR_MINUTES_MAX = 180
_PER_DAY = 1440
_CLOCK = re.compile(r"(\d\d):(\d\d)")
_ONE_UNIT = re.compile(r"(PT?)\d+([YMWDHS])")


def with_currency_of(value: Json, before: Json) -> Json:
    """The new value, with the currency of the old value if both are money and no new currency was said."""
    if not isinstance(value, dict) or not isinstance(before, dict) or value.get("currency") is not None:
        return value
    return {**value, "currency": before.get("currency")} if "amount" in value else value


def with_new_count(count: Reading, before: Json, words: LanguageWords) -> Json:
    """The old duration with a new number in the same unit: "P4D" for "four" after "P3D". None if the reply isn't just a
    number, or if the old duration has several units."""
    one = _ONE_UNIT.fullmatch(before) if isinstance(before, str) else None
    said = count.values[0] if isinstance(count, Direct) else None
    if one is None or said is None or not words.is_number(words.tokens_of(said.raw)[-1].word):
        return None  # "four people" isn't a duration
    number = said.value
    if not isinstance(number, int) or number < 1:
        return None
    return f"{one[1]}{number}{one[2]}"


def nearest_time(times: tuple[Json, ...], before: Json) -> Json:
    """The candidate that is within three hours of the old time. None if there is no such candidate, or more than
    one."""
    near = [time for time in times if abs(_minutes(time) - _minutes(before)) <= NEAR_MINUTES_MAX]
    return near[0] if len(near) == 1 else None


def _minutes(time: Json) -> int:
    found = _CLOCK.fullmatch(time) if isinstance(time, str) else None
    return int(found[1]) * 60 + int(found[2]) if found is not None else -_PER_DAY
