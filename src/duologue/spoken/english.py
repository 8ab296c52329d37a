"""How English texts are spoken: numbers, dates, times, money, units, abbreviations and acronyms.

Rule: if a number can be read in two ways (such as a year or an amount), the words around it decide. If these words
don't decide it either, the number is said as a plain number.
"""

from __future__ import annotations

import re

from .abbreviations import ENGLISH
from .addresses import address_rules
from .english_numbers import cardinal, decimal, digits, ordinal, year
from .english_units import FRACTIONS, MONEY, SCALES, SYMBOLS, UNITS
from .letters import acronym_rules
from .markup import LINE, markup_rules
from .rules import RewriteRule

MONTHS = ("January February March April May June July August September October November December").split()
_MONTH = (
    r"(?P<month>Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)|Apr(?:il|\.)?|May|June?\.?|July?\.?|Aug(?:ust|\.)?|"
    r"Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)(?!\w)"
)
NUM = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_START, _END = r"(?<![\w.,])", r"(?![\w]|[.,]\d)"
_YEAR_BEFORE = re.compile(
    r"\b(?:in|since|by|until|till|before|after|from|to|of|year|early|late|mid|around|circa|and|summer|spring|autumn|fall|"
    r"winter|copyright|" + "|".join(MONTHS) + r")[\s,–-]*\Z",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(
    r"[\s-]+(?!(?:and|or|to|in|by|was|were|is|at|on|for|with|the|a|but|as|when|until|after|it|he|she|they|we|I)\b)[a-z]"
)
_PLURAL_AFTER = re.compile(r"\s+(?:people|(?!(?:was|is|has|as|this|his)\b)[a-z]+s)\b")


def _plain(text: str) -> str:
    return decimal(text.replace(",", ""))


def _month(text: str) -> str:
    return next(month for month in MONTHS if month.startswith(text.rstrip(".")[:3]))


def _year_words(text: str) -> str:
    return year(int(text)) if 1000 <= int(text) < 3000 else cardinal(int(text))


def _date(month: int, day: int, of: str, text: str) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    said = f"{MONTHS[month - 1]} {ordinal(day)}"
    return f"{said}, {_year_words(_full_year(of))}" if of else f"{said}{text}"


def _full_year(text: str) -> str:
    return text if len(text) == 4 else f"20{text}"


def _iso_date(match: re.Match[str]) -> str | None:
    return _date(int(match["m"]), int(match["d"]), match["y"], "")


def _named_date(match: re.Match[str]) -> str | None:
    month = MONTHS.index(_month(match["month"])) + 1
    return _date(month, int(match["d"]), match["y"] or "", "")


def _day_first(match: re.Match[str]) -> str:
    has_article = re.search(r"\bthe\s+\Z", match.string[: match.start()], re.IGNORECASE)
    said = f"{'' if has_article else 'the '}{ordinal(int(match['d']))} of {_month(match['month'])}"
    return f"{said}, {_year_words(match['y'])}" if match["y"] else said


def _slashed(match: re.Match[str], is_day_first: bool) -> str | None:
    first, second = int(match["a"]), int(match["b"])
    month, day = (second, first) if (is_day_first and second <= 12) or first > 12 else (first, second)
    return _date(month, day, match["y"], "")


def _clock(hour: int, minute: int) -> str:
    said = cardinal(hour)
    if minute:
        return f"{said} {'oh ' if minute < 10 else ''}{cardinal(minute)}"
    return said


def _time(match: re.Match[str]) -> str | None:
    hour, minute, half = int(match["h"]), int(match["min"] or 0), match["half"]
    if hour > 24 or minute > 59:
        return None
    if half and hour <= 12:
        return f"{_clock(hour, minute)} {half.lower()} m"
    if match["min"] is None:
        return None
    if hour > 12 or hour == 0:
        return f"{_clock((hour - 1) % 12 + 1, minute)} {'a' if hour in (0, 24) else 'p'} m"
    return _clock(hour, minute) if minute else f"{_clock(hour, 0)} o'clock"


def _money(match: re.Match[str]) -> str:
    symbol = match["before"] or match["after"]
    one, many, cent, cents = MONEY[symbol.strip().upper()]
    number, scale = match["n"].replace(",", ""), match["scale"]
    if scale:
        return f"{decimal(number)} {SCALES[scale.strip().lower().rstrip('.')]} {many}"
    whole, _, part = number.partition(".")
    if part and (len(part) != 2 or not cent):
        return f"{decimal(number)} {many}"
    said = [f"{cardinal(int(whole))} {one if int(whole) == 1 else many}"] if int(whole) or not int(part or 0) else []
    if int(part or 0):
        said.append(f"{cardinal(int(part))} {cent if int(part) == 1 else cents}")
    return " and ".join(said)


def _unit(match: re.Match[str]) -> str:
    one, many = UNITS[match["unit"]]
    return f"{_plain(match['n'])} {one if match['n'] == '1' else many}"


def _phone(match: re.Match[str]) -> str | None:
    groups = re.findall(r"\d+", match.group())
    if sum(map(len, groups)) < 7:
        return None
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(digits(group) for group in groups)


def _fraction(match: re.Match[str]) -> str | None:
    top, bottom = int(match["a"]), int(match["b"])
    if (top, bottom) == (24, 7):
        return "twenty-four seven"
    if bottom not in FRACTIONS or not 0 < top < bottom:
        return f"{cardinal(top)} slash {cardinal(bottom)}"
    one, many = FRACTIONS[bottom]
    return f"{cardinal(top)} {one if top == 1 else many}"


def _decade(match: re.Match[str]) -> str:
    words = year(int(match["y"])) if match["y"] else cardinal(int(match["tens"]))
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def _points(text: str) -> str:
    return " point ".join(cardinal(int(part[:9])) for part in text.split("."))


def _version(match: re.Match[str]) -> str:
    return f"version {_points(match['n'])}"


def _number(match: re.Match[str]) -> str:
    text = match.group()
    if text.isdigit() and (len(text) >= 7 or (len(text) > 1 and text[0] == "0")):
        return digits(text)
    if len(text) == 4 and text.isdigit() and 1100 <= int(text) < 2100 and _is_year(match):
        return year(int(text))
    return _plain(text)


def _is_year(match: re.Match[str]) -> bool:
    if _YEAR_BEFORE.search(match.string[: match.start()]):
        return not _PLURAL_AFTER.match(match.string, match.end())
    return int(match.group()) >= 1900 and not _NOUN_AFTER.match(match.string, match.end())


_SCALE = r"(?P<scale>\s?(?:k|K|m|M|bn|B|million|billion|thousand|trillion))?(?!\w)"


def _number_rules(is_day_first: bool) -> tuple[RewriteRule, ...]:
    units = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    after = "|".join(sorted(map(re.escape, MONEY), key=len, reverse=True))
    return (
        RewriteRule(r"[\d+(.]", _START + r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)" + _END, _iso_date),
        RewriteRule(
            r"[\d+(.]",
            _START + r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4}|\d\d)" + _END,
            lambda match: _slashed(match, is_day_first),
        ),
        RewriteRule(
            r"[\d+(.]", r"(?<![\w.,])(?:\+\d{1,3}[ .-]?)?\(?\d{2,4}\)?(?:[ .-]\d{2,4}){1,4}(?<=\d{4})" + _END, _phone
        ),
        RewriteRule(
            r"[\d+(.]",
            _START + r"(?P<h>\d{1,2})(?::(?P<min>\d\d))?\s?(?P<half>[aApP])\.?\s?[mM](?:\.|\b)",
            _time,
        ),
        RewriteRule(r"[\d+(.]", _START + r"(?P<h>\d{1,2}):(?P<min>\d\d)(?P<half>)(?::\d\d)?" + _END, _time),
        RewriteRule(
            r"[\d+(.]",
            _START + r"(?P<d>\d{1,2})(?:st|nd|rd|th)?\s(?:of\s)?" + _MONTH + r"(?:,?\s(?P<y>\d{4})\b)?",
            _day_first,
        ),
        RewriteRule(
            r"[\d+(.]",
            _START + rf"(?P<before>)(?P<n>{NUM}){_SCALE}\s?(?P<after>{after})(?!\w)",
            _money,
        ),
        RewriteRule(r"[\d+(.]", _START + r"(?:(?P<y>[12]\d{2}0)|(?<=[Tt]he )(?P<tens>\d0))s\b", _decade),
        RewriteRule(r"[\d+(.]", rf"(?<![\w.,])(?P<n>{NUM})\s?(?P<unit>{units})(?!\w)", _unit),
        RewriteRule(r"[\d+(.]", rf"(?<![\w.,])(?P<n>{NUM})\s?%", lambda match: f"{_plain(match['n'])} percent"),
        RewriteRule(r"[\d+(.]", _START + r"(?P<n>\d+)(?:st|nd|rd|th)\b", lambda match: ordinal(int(match["n"][:15]))),
        RewriteRule(r"[\d+(.]", _START + r"(?P<a>\d{1,3})/(?P<b>\d{1,3})" + _END, _fraction),
        RewriteRule(
            r"[\d+(.]",
            _START + r"\d+(?:\.\d+){2,}" + _END,
            lambda match: _points(match.group()),
        ),
        RewriteRule(r"[\d+(.]", rf"(?<![\w.,]){NUM}(?![\w]|,\d)", _number),
        RewriteRule(r"[\d+(.]", r"(?<![\w.,])\.\d+" + _END, lambda match: f"point {digits(match.group())}"),
    )


def english_rules(region: str) -> tuple[RewriteRule, ...]:
    """The rules for English as it is written in a region such as "US" or "GB"."""
    before = "|".join(re.escape(symbol) for symbol in MONEY if not symbol.isalpha())
    return (
        RewriteRule(
            "[0-9 \t]",
            LINE + r"(?P<n>\d{1,3})[.)][ \t]+(?=\S)",
            lambda match: f"{cardinal(int(match['n']))}, ",
        ),
        *markup_rules("a block of code"),
        *address_rules({".": "dot", "@": "at", "/": "slash", "-": "dash", "_": "underscore", "+": "plus"}),
        *_number_rules(is_day_first=region not in ("", "US", "CA", "PH")),
        RewriteRule(r"[-−–—]", r"(?<=[\d%])\s?[-–]\s?(?=[$€£]?\d)|(?<=[ap]m)\s?[-–]\s?(?=\d)", " to "),
        RewriteRule(r"[-−–—]", r"(?<![\w)])[-−](?=[$€£]?\d)", "minus "),
        RewriteRule(r"[-−–—]", r"(?<=[A-Za-z])-(?=\d)", " "),
        RewriteRule(
            "[A-Z$€£¥₹-]",
            rf"(?:US|C|A)?(?P<before>{before})(?P<after>)\s?(?P<n>{NUM}){_SCALE}(?![.,]\d)",
            _money,
        ),
        RewriteRule(
            "[A-Z]",
            r"(?<!\w)" + _MONTH + r"\s(?P<d>\d{1,2})(?:st|nd|rd|th)?(?:,?\s(?P<y>\d{4}))?(?![\w:])",
            _named_date,
        ),
        *ENGLISH.rules(),
        *acronym_rules("en"),
        RewriteRule("[vV]", r"\b[vV](?P<n>\d+(?:\.\d+)*)\b", _version),
        *(RewriteRule(re.escape(symbol[:1]), pattern, said) for symbol, pattern, said in SYMBOLS),
    )
