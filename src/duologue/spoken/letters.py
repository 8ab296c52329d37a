"""Which acronyms are said letter by letter, and how codes of letters and digits are said.

Rule: an acronym without a vowel is said letter by letter, and so is an acronym in the list of this module. Other
acronyms, such as NASA, are said as words. If a whole text is in capitals, its words aren't spelled.
"""

from __future__ import annotations

import re

from .english_numbers import cardinal
from .german_numbers import cardinal as german_cardinal
from .rules import RewriteRule
from .spanish_numbers import cardinal as spanish_cardinal

_SPELLED = frozenset(
    "AI API ATM EU UK US USA UN URL USB UV ID IP IT FAQ CEO CIO COO CFO CIA FBI IBM IRS UFO UPS USPS VIP EV DIY ETA EST"
    " AC OS UI UX IDE IoT SaaS AG OHG EDV USt ADAC ARD EKG EDEKA IVA AVE ONU UE IA ADN OTAN AWS SUV".split()
)
_SAID = frozenset("OTAN ONU AVE EDEKA IVA SIM PIN".split())
_CARDINALS = {"en": cardinal, "de": german_cardinal, "es": spanish_cardinal}
_VOWELS = re.compile("[AEIOUYÄÖÜÁÉÍÓÚ]")


def acronym_rules(language: str) -> tuple[RewriteRule, ...]:
    """The rules for acronyms and codes. Numbers in codes such as "B12" are said in the given language."""
    number = _CARDINALS[language]

    def spell(match: re.Match[str]) -> str | None:
        letters = match["letters"]
        if letters in _SAID or (letters not in _SPELLED and _VOWELS.search(letters)) or _is_shouted(match):
            return None
        return " ".join(letters.upper()) + ("s" if match["plural"] else "")

    def code(match: re.Match[str]) -> str | None:
        digits = match["n"]
        said = number(int(digits)) if len(digits) <= 3 and digits[0] != "0" else " ".join(map(number, map(int, digits)))
        return f"{' '.join(match['letters'])} {said}"

    return (
        RewriteRule("[A-Z]", r"(?<![\w-])GmbH\b", "G M B H"),
        RewriteRule("[A-Z]", r"(?<!\w)(?P<letters>[A-Z]{1,3})-?(?P<n>\d{1,6})(?![\w]|[.,:]\d)", code),
        RewriteRule("[A-Z]", r"(?<![\w.])(?P<letters>IoT|SaaS|USt|[A-ZÄÖÜ]{2,6})(?P<plural>s?)(?![\w]|\.\w)", spell),
    )


def _is_shouted(match: re.Match[str]) -> bool:
    """Is the whole text, of at least three words, in capitals?"""
    return match.string.isupper() and len(match.string.split()) > 2
