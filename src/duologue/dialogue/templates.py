"""Texts with gaps: `Your table for {people} is booked.`

A gap is the name of a slot in braces. It is replaced by the slot's value, as people say it. A dot reads a
part of a value, as in `{flight.price}`. Rule: a gap without a value is left empty, so filling a text never fails during
a call. Unknown names are reported when the flows are loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias, TypeGuard

ANY = "dontcare"  # the value that the grammars use for "any value will do"
GAP = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z0-9_]+)*)(:spelled)?\}")
FOR_EACH = re.compile(r"\{for each ([A-Za-z_][A-Za-z0-9_]*)\}(.*?)\{end\}", re.DOTALL)
ITEM = "."  # after the name of a slot: the whole item that the user chose
Wording: TypeAlias = str | tuple[str, ...]  # one text, or several to choose from
_MONTHS = "January February March April May June July August September October November December".split()
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_DURATION = re.compile(r"P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_DAYS, _NIGHTS = re.compile(r"P\d+D"), re.compile(r"\bnights?\b", re.IGNORECASE)
_UNITS = "year month week day hour minute second".split()
_TIME = re.compile(r"(\d{2}):(\d{2})")
_MONTHS_BACK, _MONTHS_AHEAD = 2, 9  # within this range a date is said without its year


def chosen(wording: Wording, number: int) -> str:
    """One of several texts. The same number always gives the same text, so that a replay says the same."""
    if isinstance(wording, str):
        return wording
    return wording[number % len(wording)] if wording else ""


def first_of(wording: Wording) -> str:
    return chosen(wording, 0)


def gaps_of(text: Wording) -> tuple[str, ...]:
    """The names of the gaps in a text, and of the lists that it goes through. Names inside `{for each …}` are those of
    the items, and don't count."""
    found: dict[str, None] = {}
    for one in (text,) if isinstance(text, str) else text:
        found |= dict.fromkeys(loop[1] for loop in FOR_EACH.finditer(one))
        found |= dict.fromkeys(name for name, _, _ in GAP.findall(FOR_EACH.sub("", one)))
    return tuple(found)


def fill(text: str, values: Mapping[str, object], today: str = "") -> str:
    """The text with its gaps filled. The part between `{for each NAME}` and `{end}` is said for every item of a
    list; its gaps are the values of the item."""

    def each(loop: re.Match[str]) -> str:
        items = values.get(loop[1] + ITEM, values.get(loop[1]))
        return together([fill(loop[2], _parts_of(item), today) for item in items]) if _is_list(items) else ""

    def said(gap: re.Match[str]) -> str:
        value = _part_of(values, gap[1], gap[2].split(".")[1:])
        return spelled(str(value)) if gap[3] and value is not None else spoken(value, today)

    return " ".join(GAP.sub(said, FOR_EACH.sub(each, text)).split())


def _is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


def _parts_of(item: object) -> Mapping[str, object]:
    """The values that gaps inside `{for each …}` may use. An item that isn't an object is `{value}`."""
    return item if isinstance(item, Mapping) else {"value": item}


def _part_of(values: Mapping[str, object], name: str, path: list[str]) -> object:
    """The value of a gap. `{order.total}` is the value `total` of the object in the slot `order`, or of the item that
    the user chose for it; `{orders.0}` is the first item of a list. None if there is no such part."""
    value = values.get(name) if not path else values.get(name + ITEM, values.get(name))
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def spoken(value: object, today: str = "") -> str:
    """A value as people say it. A date far from today is said with its year."""
    match value:
        case None:
            return ""
        case str() if value == ANY:
            return "any"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case {"value": found, **more}:
            return spoken(more.get("label") or found, today)
        case dict():
            return " ".join(spoken(part) for part in value.values() if part is not None)
        case list() | tuple():
            return either([spoken(part, today) for part in value])
        case str() if (day := _DATE.fullmatch(value)) and 1 <= int(day[2]) <= 12:
            year = f", {day[1]}" if _is_far(value, today) else ""
            return f"{_MONTHS[int(day[2]) - 1]} {int(day[3])}{year}"
        case str() if time := _TIME.fullmatch(value):
            return _clock(int(time[1]), int(time[2]))
        case str() if (lasts := _DURATION.fullmatch(value)) and any(lasts.groups()):
            return _lasting([int(part or 0) for part in lasts.groups()])
    return str(value)


def as_said(value: object, raw: str) -> object:
    """The value to say to the user. A number of days is said in nights if the user said nights."""
    is_nights = isinstance(value, str) and _DAYS.fullmatch(value) and _NIGHTS.search(raw)
    return spoken(value).replace("day", "night") if is_nights else value


def spelled(code: str) -> str:
    """The code character by character, in groups of three. Of an e-mail address, only the part before the @ is
    spelled."""
    if "@" in code:
        local, _, host = code.rpartition("@")
        return f"{' '.join(local)} at {host}"
    characters = [each for each in code if not each.isspace()]
    groups = [" ".join(characters[at : at + 3]) for at in range(0, len(characters), 3)]
    return ", ".join(groups)


def either(parts: list[str]) -> str:
    """The parts, joined by commas and "or"."""
    return f"{', '.join(parts[:-1])} or {parts[-1]}" if len(parts) > 1 else "".join(parts)


def together(parts: list[str]) -> str:
    """The parts, joined by commas and "and"."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _is_far(day: str, today: str) -> bool:
    """Is the day so far from today that it could be mistaken for the same day of another year?"""
    now = _DATE.match(today)
    if now is None:
        return False
    months = 12 * (int(day[:4]) - int(now[1])) + int(day[5:7]) - int(now[2])
    return not -_MONTHS_BACK <= months <= _MONTHS_AHEAD


def _clock(hour: int, minute: int) -> str:
    half = "am" if hour < 12 else "pm"
    shown = (hour - 1) % 12 + 1
    return f"{shown}:{minute:02d} {half}" if minute else f"{shown} {half}"


def _lasting(parts: list[int]) -> str:
    said = [f"{part} {unit}{'s' * (part != 1)}" for part, unit in zip(parts, _UNITS, strict=True) if part]
    return " and ".join((", ".join(said[:-1]), said[-1])) if len(said) > 1 else "".join(said) or "no time"
