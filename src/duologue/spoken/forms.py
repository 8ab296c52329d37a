"""Makes the spoken forms of an agent's sentences, by the rules of the agent's language and by the agent's own
pronunciations of names and terms.

Rule: a sentence is rewritten in one pass. The rules for a language and a lexicon are prepared before that, and only one
time. If a language has no rules, only markup is left out, and everything else is said as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from duologue.turns.language import known_code

from .alignment import SpokenForm
from .markup import markup_rules
from .rules import RewriteRule, RewriteRules

# Each language is imported when an agent speaks it.


def _english(region: str) -> tuple[RewriteRule, ...]:
    from .english import english_rules

    return english_rules(region)


def _german(region: str) -> tuple[RewriteRule, ...]:
    from .german import german_rules

    return german_rules(region)


def _spanish(region: str) -> tuple[RewriteRule, ...]:
    from .spanish import spanish_rules

    return spanish_rules(region)


_LANGUAGES: dict[str, Callable[[str], tuple[RewriteRule, ...]]] = {"en": _english, "de": _german, "es": _spanish}
LANGUAGES = tuple(_LANGUAGES)
"""The languages in which numbers, dates, money and abbreviations become words."""


class SpokenForms:
    """Turns sentences in one language into their spoken form. `lexicon` says how certain words are said, such as
    {"SQL": "sequel"}; upper and lower case make no difference. With `is_off`, only the lexicon is used, and everything
    else is said as it is written."""

    def __init__(self, language: str = "en", lexicon: Mapping[str, str] | None = None, *, is_off: bool = False) -> None:
        self.language = language
        self._rules = _rules(language, tuple(sorted((lexicon or {}).items())), is_off)

    def of(self, sentence: str) -> SpokenForm:
        """The spoken form of a sentence. It also records which written and spoken words correspond to each other."""
        return self._rules.apply(sentence)


def lexicon_problems(lexicon: object) -> list[str]:
    """The problems of a lexicon, each in one line; empty if it is valid."""
    if not isinstance(lexicon, Mapping):
        return [f"pronunciations must be a dict such as {{'SQL': 'sequel'}}, not {type(lexicon).__name__}"]
    problems = []
    for word, said in lexicon.items():
        if not isinstance(word, str) or not word.strip():
            problems.append(f"pronunciations: a word must be text, not {word!r}")
        elif not isinstance(said, str) or not any(map(str.isalnum, said)):
            problems.append(f"pronunciations[{word!r}] must be what is said, as text, not {said!r}")
    return problems


@cache
def _rules(language: str, lexicon: tuple[tuple[str, str], ...], is_off: bool) -> RewriteRules:
    own = _lexicon_rules(dict(lexicon))
    if is_off:
        return RewriteRules((*own, RewriteRule("x", r"(?!)", "")))
    code, region = known_code(language), language.replace("_", "-").partition("-")[2].upper()
    make = _LANGUAGES.get(code)
    return RewriteRules((*own, *(make(region) if make else markup_rules(""))))


def _lexicon_rules(lexicon: Mapping[str, str]) -> tuple[RewriteRule, ...]:
    if not lexicon:
        return ()
    said = {word.strip().casefold(): text for word, text in lexicon.items()}
    words = "|".join(re.escape(word.strip()) for word in sorted(lexicon, key=len, reverse=True))
    return (RewriteRule(r"\S", rf"(?i:(?<!\w)(?:{words})(?!\w))", lambda match: said[match.group().casefold()]),)
