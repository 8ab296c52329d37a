"""Texts with gaps: `Your table for {people} is booked.`

A gap is the name of a slot in braces. It is replaced by the slot's value, as people say it. A gap with a dot, as in
`{flight.price}`, is replaced by a part of the value. Rule: if a gap has no value, nothing is inserted, so filling a
text never fails during a conversation. Unknown names are reported when the flows are loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias, TypeGuard

from .english.value_forms import SPOKEN as ENGLISH_FORMS
from .language.value_forms import ValueForms

ANY = "dontcare"  # the value that the grammars use for "any value will do"
GAP = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z0-9_]+)*)(:spelled)?\}")
FOR_EACH = re.compile(r"\{for each ([A-Za-z_][A-Za-z0-9_]*)\}(.*?)\{end\}", re.DOTALL)
ITEM = "."  # after the name of a slot: the whole item that the user chose
Wording: TypeAlias = str | tuple[str, ...]  # one text, or several to choose from
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_DURATION = re.compile(r"P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_DAYS = re.compile(r"P(\d+)D")
_TIME = re.compile(r"(\d{2}):(\d{2})")
_MONTHS_BACK, _MONTHS_AHEAD = 2, 9  # within this range a date is said without its year


def chosen(wording: Wording, number: int) -> str:
    """One of several texts, chosen by `number`. The same number always gives the same text, so that a replay uses the
    same words."""
    if isinstance(wording, str):
        return wording
    return wording[number % len(wording)] if wording else ""


def first_of(wording: Wording) -> str:
    return chosen(wording, 0)


@lru_cache(maxsize=4096)
def gaps_of(text: Wording) -> tuple[str, ...]:
    """The names of the gaps in a text, and of the lists in `{for each …}`. Gaps inside `{for each …}` aren't included,
    because they stand for values of the list's items."""
    found: dict[str, None] = {}
    for one in (text,) if isinstance(text, str) else text:
        found |= dict.fromkeys(loop[1] for loop in FOR_EACH.finditer(one))
        found |= dict.fromkeys(name for name, _, _ in GAP.findall(FOR_EACH.sub("", one)))
    return tuple(found)


def fill(text: str, values: Mapping[str, object], today: str = "", forms: ValueForms = ENGLISH_FORMS) -> str:
    """The text with its gaps filled. The part between `{for each NAME}` and `{end}` is repeated for every item of the
    list NAME, and its gaps stand for the values of that item. `forms` holds the words and forms of the text's
    language."""

    def each(loop: re.Match[str]) -> str:
        items = values.get(loop[1] + ITEM, values.get(loop[1]))
        parts = [fill(loop[2], _parts_of(item), today, forms) for item in items] if _is_list(items) else []
        return together(parts, forms)

    def said(gap: re.Match[str]) -> str:
        value = _part_of(values, gap[1], gap[2].split(".")[1:])
        return spelled(str(value), forms) if gap[3] and value is not None else spoken(value, today, forms)

    return " ".join(GAP.sub(said, FOR_EACH.sub(each, text)).split())


def _is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


def _parts_of(item: object) -> Mapping[str, object]:
    """The values that gaps inside `{for each …}` may use. If the item isn't an object, the gap `{value}` stands for the
    whole item."""
    return item if isinstance(item, Mapping) else {"value": item}


def _part_of(values: Mapping[str, object], name: str, path: list[str]) -> object:
    """The value for a gap; None if there is no such value. `{order.total}` is the value `total` of the object in the
    slot `order`, or of the item that the user chose for this slot. `{orders.0}` is the first item of a list."""
    value = values.get(name) if not path else values.get(name + ITEM, values.get(name))
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def spoken(value: object, today: str = "", forms: ValueForms = ENGLISH_FORMS) -> str:
    """A value as people say it. A date far from today is said with its year."""
    match value:
        case None:
            return ""
        case str() if value == ANY:
            return forms.any
        case bool():
            return forms.yes if value else forms.no
        case float():
            return f"{value:g}".replace(".", forms.decimal_mark)
        case {"value": found, **more}:
            return spoken(more.get("label") or found, today, forms)
        case dict():
            return " ".join(spoken(part, "", forms) for part in value.values() if part is not None)
        case list() | tuple():
            return either([spoken(part, today, forms) for part in value], forms)
        case str() if (day := _DATE.fullmatch(value)) and 1 <= int(day[2]) <= 12:
            form = forms.date_with_year if _is_far(value, today) else forms.date
            return form.format(day=int(day[3]), month=forms.months[int(day[2]) - 1], year=day[1])
        case str() if time := _TIME.fullmatch(value):
            return _clock(int(time[1]), int(time[2]), forms)
        case str() if (lasts := _DURATION.fullmatch(value)) and any(lasts.groups()):
            return _lasting([int(part or 0) for part in lasts.groups()], forms)
    return str(value)


def as_said(value: object, raw: str, forms: ValueForms = ENGLISH_FORMS) -> object:
    """The value as the agent should say it. If the user gave a number of days in nights ("three nights"), it is said in
    nights too."""
    days = _DAYS.fullmatch(value) if isinstance(value, str) and raw else None
    if days is None or not _nights(forms.nights[0]).search(raw):
        return value
    return f"{days[1]} {forms.nights[1][days[1] != '1']}"


@lru_cache(maxsize=16)
def _nights(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def spelled(code: str, forms: ValueForms = ENGLISH_FORMS) -> str:
    """The code, character by character, in groups of three. If it is an e-mail address, only the part before the @ is
    spelled."""
    if "@" in code:
        local, _, host = code.rpartition("@")
        return f"{' '.join(local)} {forms.at} {host}"
    characters = [each for each in code if not each.isspace()]
    groups = [" ".join(characters[at : at + 3]) for at in range(0, len(characters), 3)]
    return ", ".join(groups)


def either(parts: list[str], forms: ValueForms = ENGLISH_FORMS) -> str:
    """The parts as one text, with commas and, before the last part, "or"."""
    return f"{', '.join(parts[:-1])} {forms.or_} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def together(parts: list[str], forms: ValueForms = ENGLISH_FORMS) -> str:
    """The parts as one text, with commas and, before the last part, "and"."""
    return f"{', '.join(parts[:-1])} {forms.and_} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _is_far(day: str, today: str) -> bool:
    """Is the day so far from today that it could be mistaken for the same day of another year?"""
    now = _DATE.match(today)
    if now is None:
        return False
    months = 12 * (int(day[:4]) - int(now[1])) + int(day[5:7]) - int(now[2])
    return not -_MONTHS_BACK <= months <= _MONTHS_AHEAD


def _clock(hour: int, minute: int, forms: ValueForms) -> str:
    shown = (hour - 1) % 12 + 1 if forms.has_12_hours else hour
    form = forms.clock_with_minutes if minute else forms.clock
    return form.format(hour=shown, minute=f"{minute:02d}", half="am" if hour < 12 else "pm")


def _lasting(parts: list[int], forms: ValueForms) -> str:
    said = [f"{part} {unit[part != 1]}" for part, unit in zip(parts, forms.units, strict=True) if part]
    return f" {forms.and_} ".join((", ".join(said[:-1]), said[-1])) if len(said) > 1 else "".join(said) or forms.no_time
