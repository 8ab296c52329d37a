"""How Spanish texts are spoken: numbers, dates, times, money, units, abbreviations and acronyms.

Rule: a number agrees with the noun after it: "veintiún euros", "veintiuna personas". The region decides whether numbers
are written with a decimal comma or, as in Mexico, with a decimal point.
"""

from __future__ import annotations

import re

from .abbreviations import SPANISH
from .addresses import address_rules
from .letters import acronym_rules
from .markup import LINE, markup_rules
from .rules import RewriteRule
from .spanish_numbers import Gender, cardinal, decimal, digits, ordinal
from .spanish_units import FRACTIONS, MONEY, PESO, SYMBOLS, UNITS

MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
_POINT_REGIONS = frozenset("MX US PR DO GT HN NI PA PE SV".split())
_PESO_REGIONS = frozenset("MX AR CL CO UY CU DO".split())
_FIRST = r"[\d+(]"
_START, _END = r"(?<![\w.,])", r"(?![\w]|[.,:]\d)"
_FEMININE = re.compile(
    r"\s+(?!días|problemas|temas|programas|sistemas|idiomas|mapas|planetas|más\b|a[sl]?\b|las?\b)"
    r"\w*(?:as|a|iones|dades)\b"
)
_MASCULINE = re.compile(r"\s+(?:\w+(?:os|es|ías)|día|año|mes|euro|kilo|minuto|segundo|libro)\b")


class _Spanish:
    """The functions that say numbers, money and so on in Spanish, for one region. The rules call them."""

    def __init__(self, region: str) -> None:
        self.has_point = region in _POINT_REGIONS
        thousand, point = (",", r"\.") if self.has_point else (r"\.", ",")
        self.num = rf"(?:\d{{1,3}}(?:{thousand}\d{{3}})+|\d+)(?:{point}\d+)?"
        self.money_names = {**MONEY, "$": PESO} if region in _PESO_REGIONS else MONEY

    def plain(self, text: str) -> str:
        """The number with a decimal comma and without separators between thousands, however the region writes it."""
        return text.replace(",", "").replace(".", ",") if self.has_point else text.replace(".", "")

    def say(self, text: str, gender: Gender = "") -> str:
        return decimal(self.plain(text), "punto" if self.has_point else "coma", gender)

    def money(self, match: re.Match[str]) -> str:
        one, many, cent, gender = self.money_names[(match["before"] or match["after"]).upper()]
        number, scale = self.plain(match["n"]), (match["scale"] or "").strip()
        if scale:
            return f"{self.say(match['n'], 'm')} {scale} de {many}"
        whole, _, part = number.partition(",")
        if part and len(part) != 2:
            return f"{self.say(match['n'])} {many}"
        said = (
            [f"{cardinal(int(whole), gender)} {one if int(whole) == 1 else many}"]
            if int(whole) or not int(part or 0)
            else []
        )
        if int(part or 0):
            said.append(f"{cardinal(int(part), 'm')} {cent if int(part) == 1 else f'{cent}s'}")
        return " con ".join(said)

    def unit(self, match: re.Match[str]) -> str:
        one, many, gender = UNITS[match["unit"]]
        return f"{self.say(match['n'], gender)} {one if match['n'] == '1' else many}"

    def percent(self, match: re.Match[str]) -> str:
        return f"{self.say(match['n'])} por ciento"

    def number(self, match: re.Match[str]) -> str:
        text = match.group()
        if text.isdigit() and (len(text) >= 7 or (len(text) > 1 and text[0] == "0")):
            return digits(text)
        return self.say(text, _gender_after(match))


def _gender_after(match: re.Match[str]) -> Gender:
    if _FEMININE.match(match.string, match.end()):
        return "f"
    return "m" if _MASCULINE.match(match.string, match.end()) else ""


def _date(match: re.Match[str]) -> str | None:
    day, month = int(match["d"]), int(match["m"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    year = match["y"] if len(match["y"]) == 4 else f"20{match['y']}"
    return f"{cardinal(day)} de {MONTHS[month - 1]} de {cardinal(int(year))}"


def _time(match: re.Match[str]) -> str | None:
    hour, minute, half = int(match["h"]), int(match["min"] or 0), (match["half"] or "").lower()
    if hour > 24 or minute > 59 or (match["min"] is None and not half):
        return None
    said = cardinal(hour, "f")
    if minute and hour <= 12 and minute in (15, 30):
        said += " y cuarto" if minute == 15 else " y media"
    elif minute:
        said += f" y {cardinal(minute)}" if hour <= 12 else f" {cardinal(minute)}"
    if half == "a":
        return f"{said} de la mañana"
    if half == "p":
        return f"{said} de la {'noche' if 8 <= hour < 12 else 'tarde'}"
    return f"{said} horas" if match["hours"] else said


def _phone(match: re.Match[str]) -> str | None:
    groups = re.findall(r"\d+", match.group())
    if sum(map(len, groups)) < 9:
        return None
    plus = "más " if match.group().startswith("+") else ""
    return plus + ", ".join(digits(group) for group in groups)


def _fraction(match: re.Match[str]) -> str | None:
    top, bottom = int(match["a"]), int(match["b"])
    if (top, bottom) == (24, 7):
        return "veinticuatro siete"
    if bottom not in FRACTIONS or not 0 < top < bottom:
        return f"{cardinal(top)} barra {cardinal(bottom)}"
    one, many = FRACTIONS[bottom]
    return f"{cardinal(top, 'm')} {one if top == 1 else many}"


def _ordinal(match: re.Match[str]) -> str | None:
    ending = {"ª": "a", "a": "a", "er": "er"}.get(match["end"], "o")
    return ordinal(int(match["n"]), ending)


def _points(text: str) -> str:
    return " punto ".join(cardinal(int(part[:9])) for part in text.split("."))


def spanish_rules(region: str) -> tuple[RewriteRule, ...]:
    """The rules for Spanish as it is written in a region such as "ES" or "MX"."""
    here = _Spanish(region)
    num = here.num
    units = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    before = "|".join(re.escape(symbol) for symbol in MONEY if not symbol.isalpha())
    after = "|".join(sorted(map(re.escape, MONEY), key=len, reverse=True))
    scale = r"(?P<scale>\s?(?:millones|millón))?(?:\sde)?"
    return (
        RewriteRule(
            "[0-9 \t]", LINE + r"(?P<n>\d{1,3})[.)][ \t]+(?=\S)", lambda match: f"{cardinal(int(match['n']))}, "
        ),
        *markup_rules("un bloque de código"),
        *address_rules({".": "punto", "@": "arroba", "/": "barra", "-": "guion", "_": "guion bajo", "+": "más"}),
        RewriteRule(_FIRST, _START + r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)" + _END, _date),
        RewriteRule(_FIRST, _START + r"(?P<d>\d{1,2})[/.-](?P<m>\d{1,2})[/.-](?P<y>\d{4}|\d\d)" + _END, _date),
        RewriteRule(
            _FIRST,
            _START + r"(?P<h>\d{1,2})(?::(?P<min>\d\d))?\s?(?P<half>[aApP])\.?\s?[mM](?:\.|\b)(?P<hours>)",
            _time,
        ),
        RewriteRule(
            _FIRST,
            _START + r"(?P<h>\d{1,2}):(?P<min>\d\d)(?::\d\d)?(?P<half>)(?P<hours>\s?(?:hs?|horas)\b\.?)?" + _END,
            _time,
        ),
        RewriteRule(_FIRST, r"(?<![\w.,])(?:\+\d{1,3}[ -]?)?\d{2,3}(?:[ -]\d{2,3}){2,4}" + _END, _phone),
        RewriteRule(_FIRST, _START + rf"(?P<before>)(?P<n>{num}){scale}\s?(?P<after>{after})(?!\w)", here.money),
        RewriteRule(_FIRST, _START + rf"(?P<n>{num})\s?(?P<unit>{units})(?!\w)", here.unit),
        RewriteRule(_FIRST, _START + rf"(?P<n>{num})\s?%", here.percent),
        RewriteRule(_FIRST, _START + r"(?P<n>\d{1,2})\.?(?P<end>º|ª|er)(?!\w)", _ordinal),
        RewriteRule(_FIRST, _START + r"(?P<a>\d{1,3})/(?P<b>\d{1,3})" + _END, _fraction),
        RewriteRule(
            _FIRST,
            _START + (r"\d+(?:\.\d+){2,}" if here.has_point else r"\d+(?:\.\d+)+(?<!\.\d{3})") + _END,
            lambda match: _points(match.group()),
        ),
        RewriteRule(_FIRST, _START + num + r"(?![\w]|[.,:]\d)", here.number),
        RewriteRule(r"[-−–—]", r"(?<=[\d%€$])\s?[-–]\s?(?=\d)", " a "),
        RewriteRule(r"[-−–—]", r"(?<![\w)])[-−](?=[$€£]?\d)", "menos "),
        RewriteRule(r"[-−–—]", r"(?<=[A-Za-z])-(?=\d)", " "),
        RewriteRule("[$€£¥-]", rf"(?P<before>{before})(?P<after>)\s?(?P<n>{num}){scale}(?![.,]\d)", here.money),
        RewriteRule(r"[^\W\d_]", r"(?<!\w)C/\s?", "calle "),
        *SPANISH.rules(),
        *acronym_rules("es"),
        RewriteRule("[vV]", r"\b[vV](?P<n>\d+(?:\.\d+)*)\b", lambda match: f"versión {_points(match['n'])}"),
        *(RewriteRule(re.escape(symbol[:1]), pattern, said) for symbol, pattern, said in SYMBOLS),
    )
