"""How German texts are spoken: numbers, dates, times, money, units, abbreviations and acronyms.

Rule: the ending of an ordinal depends on the word before it: "der dritte Mai", "am dritten Mai", "dritter Mai".
"""

from __future__ import annotations

import re

from .abbreviations import GERMAN
from .addresses import address_rules
from .german_numbers import cardinal, decimal, digits, ordinal, year
from .german_units import FRACTIONS, MONEY, SYMBOLS, UNITS
from .letters import acronym_rules
from .markup import LINE, markup_rules
from .rules import RewriteRule

MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
NUM = r"(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?"
_FIRST = r"[\d+(]"
_START, _END = r"(?<![\w.,])", r"(?![\w]|[.,:]\d)"
_MONTH = (
    r"(?P<month>Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|"
    r"(?:Jan|Feb|Mär|Apr|Jun|Jul|Aug|Sept?|Okt|Nov|Dez)\.?)(?!\w)"
)
_WEAK = re.compile(
    r"\b(?:am|vom|zum|zur|im|beim|dem|den|des|einem|einen|einer|ab|seit|bis|"
    r"(?:in|auf|an|mit|von|nach|aus|bei|zu|unter|vor)\s+der)\s+\Z",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:der|die|das|eine|jede|meine|seine|ihre|unsere)\s+\Z", re.IGNORECASE)
_YEAR_BEFORE = re.compile(
    r"\b(?:Jahre?n?|Jahres|seit|von|bis|ab|um|anno|in|und|Sommer|Winter|Herbst|Frühjahr|Ende|Anfang|Mitte|"
    + "|".join(MONTHS)
    + r")[\s–-]*\Z",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(r"\s+(?:[A-ZÄÖÜ€$]|%)")
_FEMININE_ENDS = ("e", "ung", "heit", "keit", "ion", "tät", "schaft", "erin")
_FEMININE = ("stunde", "minute", "sekunde", "meile", "unze", "kalorie")


def _ending(match: re.Match[str]) -> str:
    before = match.string[: match.start()]
    if _WEAK.search(before):
        return "en"
    return "e" if _ARTICLE.search(before) else "er"


def _plain(text: str, one: str = "eins") -> str:
    return decimal(text.replace(".", ""), one)


def _month_name(text: str) -> str:
    return next(month for month in MONTHS if month.startswith(text.rstrip(".")[:3]))


def _full_year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)


def _date(match: re.Match[str]) -> str | None:
    day, month = int(match["d"]), int(match["m"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    said = f"{ordinal(day, _ending(match))} {MONTHS[month - 1]}"
    return f"{said} {year(_full_year(match['y']))}" if match["y"] else said


def _named_date(match: re.Match[str]) -> str:
    return f"{ordinal(int(match['d']), _ending(match))} {_month_name(match['month'])}"


def _time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["h"]), int(match["min"] or 0)
    if hour > 24 or minute > 59:
        return None
    said = f"{cardinal(hour, 'ein')} Uhr"
    return f"{said} {cardinal(minute)}" if minute else said


def _money(match: re.Match[str]) -> str:
    one, many, cent = MONEY[(match["before"] or match["after"]).upper()]
    number, scale = match["n"].replace(".", ""), (match["scale"] or "").strip()
    if scale:
        said = {"Mio.": "Millionen", "Mrd.": "Milliarden"}.get(scale, scale)
        return f"{decimal(number, 'eine')} {said} {many}"
    whole, _, part = number.partition(",")
    if part and (len(part) != 2 or not cent):
        return f"{decimal(number)} {many}"
    if part and int(part) and not int(whole):
        return f"{cardinal(int(part), 'ein')} {cent}"
    said = f"{cardinal(int(whole), 'ein')} {one if int(whole) == 1 else many}"
    return f"{said} {cardinal(int(part))}" if part and int(part) else said


def _unit(match: re.Match[str]) -> str:
    one, many = UNITS[match["unit"]]
    if match["n"] == "1":
        return f"{'eine' if one.lower().endswith(_FEMININE) else 'ein'} {one}"
    return f"{_plain(match['n'])} {many}"


def _phone(match: re.Match[str]) -> str | None:
    groups = re.findall(r"\d+", match.group())
    if sum(map(len, groups)) < 7:
        return None
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(digits(group) for group in groups)


def _fraction(match: re.Match[str]) -> str | None:
    top, bottom = int(match["a"]), int(match["b"])
    if (top, bottom) == (24, 7):
        return "vierundzwanzig sieben"
    if (top, bottom) == (1, 2):
        return "einhalb"
    if bottom not in FRACTIONS or not 0 < top < bottom:
        return f"{cardinal(top)} Schrägstrich {cardinal(bottom)}"
    return f"{cardinal(top, 'ein')} {FRACTIONS[bottom]}"


def _number(match: re.Match[str]) -> str:
    text = match.group()
    if text.isdigit() and (len(text) >= 7 or (len(text) > 1 and text[0] == "0")):
        return digits(text)
    if len(text) == 4 and text.isdigit() and 1100 <= int(text) < 2100 and _is_year(match):
        return year(int(text))
    if text == "1" and (noun := re.match(r"\s+([A-ZÄÖÜ][\wäöüß]*)", match.string[match.end() :])):
        return "eine" if noun[1].endswith(_FEMININE_ENDS) else "ein"
    return _plain(text)


def _is_year(match: re.Match[str]) -> bool:
    if _NOUN_AFTER.match(match.string, match.end()):
        return bool(re.search(r"\bJahre?s?\s+\Z", match.string[: match.start()]))
    return int(match.group()) >= 1900 or bool(_YEAR_BEFORE.search(match.string[: match.start()]))


def _times(match: re.Match[str]) -> str:
    return f"{cardinal(int(match['n']), 'ein')}{match['times'].replace('x', 'mal')}"


def _street(match: re.Match[str]) -> str:
    return f"{match['name']}straße" if match["name"] else "Straße"


def _points(text: str) -> str:
    return " Punkt ".join(cardinal(int(part[:9])) for part in text.split("."))


def german_rules(region: str) -> tuple[RewriteRule, ...]:  # noqa: ARG001 - German is written the same everywhere
    """The rules for German."""
    units = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    before = "|".join(re.escape(symbol) for symbol in MONEY if not symbol.isalpha())
    after = "|".join(sorted(map(re.escape, MONEY), key=len, reverse=True))
    scale = r"(?P<scale>\s?(?:Mio\.|Mrd\.|Millionen|Milliarden))?"
    return (
        RewriteRule(_FIRST, LINE + r"(?P<d>\d{1,2})\.[ \t]+" + _MONTH, _named_date),
        RewriteRule(
            "[0-9 \t]", LINE + r"(?P<n>\d{1,3})[.)][ \t]+(?=\S)", lambda match: f"{ordinal(int(match['n']), 'ens')}, "
        ),
        *markup_rules("ein Stück Code"),
        *address_rules({".": "Punkt", "@": "ät", "/": "Schrägstrich", "-": "Minus", "_": "Unterstrich", "+": "Plus"}),
        RewriteRule(_FIRST, _START + r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)" + _END, _date),
        RewriteRule(
            _FIRST, _START + r"(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.(?:\s?(?P<y>\d{4}|\d\d)(?!\d)|(?!\s?\d))", _date
        ),
        RewriteRule(_FIRST, _START + r"(?P<h>\d{1,2})(?:[:.](?P<min>\d\d))?\s?Uhr\b", _time),
        RewriteRule(_FIRST, _START + r"(?P<h>\d{1,2}):(?P<min>\d\d)(?::\d\d)?" + _END, _time),
        RewriteRule(
            _FIRST, r"(?<![\w.,])(?:\+\d{1,3}[ /-]?|0\d{2,4}[ /-])\(?\d{2,5}\)?(?:[ /-]?\d{2,8}){0,5}" + _END, _phone
        ),
        RewriteRule(_FIRST, _START + r"(?P<d>\d{1,2})\.\s?" + _MONTH, _named_date),
        RewriteRule(_FIRST, _START + rf"(?P<before>)(?P<n>{NUM}){scale}\s?(?P<after>{after})(?!\w)", _money),
        RewriteRule(_FIRST, _START + rf"(?P<n>{NUM})\s?(?P<unit>{units})(?!\w)", _unit),
        RewriteRule(_FIRST, _START + rf"(?P<n>{NUM})\s?%", lambda match: f"{_plain(match['n'], 'ein')} Prozent"),
        RewriteRule(
            _FIRST, _START + r"(?P<n>1)\s(?P<scale>Million|Milliarde)\b", lambda match: f"eine {match['scale']}"
        ),
        RewriteRule(
            _FIRST,
            _START + r"(?P<n>\d{1,3})\.(?=\s[a-zäöüA-ZÄÖÜ])",
            lambda match: ordinal(int(match["n"]), _ending(match)),
        ),
        RewriteRule(_FIRST, _START + r"(?P<y>\d{3}0|\d0)er\b", lambda match: f"{year(int(match['y']))}er"),
        RewriteRule(_FIRST, _START + r"(?P<n>\d{1,3})(?P<times>fach|mal|x)\b", _times),
        RewriteRule(_FIRST, _START + r"(?P<a>\d{1,3})/(?P<b>\d{1,3})" + _END, _fraction),
        RewriteRule(
            _FIRST,
            _START + r"\d+(?:\.\d+){1,}(?<!\.\d{3})" + _END,
            lambda match: _points(match.group()),
        ),
        RewriteRule(_FIRST, _START + NUM + r"(?![\w]|[.,:]\d)", _number),
        RewriteRule(r"[-−–—]", r"(?<=[\d%€$])\s?[-–]\s?(?=\d)", " bis "),
        RewriteRule(r"[-−–—]", r"(?<![\w)])[-−](?=[$€£]?\d)", "minus "),
        RewriteRule(r"[-−–—]", r"(?<=[A-Za-z])-(?=\d)", " "),
        RewriteRule("[$€£¥-]", rf"(?P<before>{before})(?P<after>)\s?(?P<n>{NUM}){scale}(?![.,]\d)", _money),
        RewriteRule(r"[^\W\d_]", r"(?<!\w)(?P<name>[A-ZÄÖÜ][\wäöüß-]*)str\.(?=\s|$)", _street),
        *GERMAN.rules(),
        *acronym_rules("de"),
        RewriteRule("[vV]", r"\b[vV](?P<n>\d+(?:\.\d+)*)\b", lambda match: f"Version {_points(match['n'])}"),
        *(RewriteRule(re.escape(symbol[:1]), pattern, said) for symbol, pattern, said in SYMBOLS),
    )
