"""Makes the spoken forms of an agent's sentences, by the rules of the agent's language and by the agent's own
pronunciations of names and terms.

Rule: a sentence is rewritten in one pass. The rules for a language and a lexicon are prepared before that, and only one
time. If a language has no rules, only markup is left out, and everything else is said as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from duologue.turns.language import known_code

from .alignment import SpokenForm, SpokenTag
from .markup import markup_rules
from .rules import RewriteRule, RewriteRules
from .speech_tags import is_ipa, read_tags

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


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """How a word is said: `say` is a respelling for every voice, and `ipa` its pronunciation in IPA, for voices that
    take markup. Example: `Pronunciation("shivawn", ipa="ʃəvɔn")`."""

    say: str
    ipa: str = ""


class SpokenForms:
    """Turns sentences in one language into their spoken form. `lexicon` says how certain words are said, such as
    {"SQL": "sequel"}; upper and lower case make no difference. With `is_off`, only the lexicon is used, and everything
    else is said as it is written. Speech tags are taken out of the text in any case."""

    def __init__(
        self, language: str = "en", lexicon: Mapping[str, str | Pronunciation] | None = None, *, is_off: bool = False
    ) -> None:
        self.language = language
        known = {
            word: Pronunciation(said) if isinstance(said, str) else said
            for word, said in sorted((lexicon or {}).items())
        }
        self._rules = _rules(language, tuple((word, said.say) for word, said in known.items()), is_off)
        self._ipa = {word.strip().casefold(): said for word, said in known.items() if said.ipa}

    def of(self, sentence: str) -> SpokenForm:
        """The spoken form of a sentence. It also records which written and spoken words correspond to each other."""
        written, found = read_tags(sentence)
        spoken = self._rules.apply(written)
        if not found and not self._ipa:
            return spoken
        tags = [
            SpokenTag(
                tag.kind, tag.value, start := spoken.spoken_start(tag.start), max(start, spoken.spoken_end(tag.end))
            )
            for tag in found
        ]
        tags += self._pronounced(spoken, tags)
        # Of tags with the same start, the longer one is outside. A tag that applies to no spoken word is left out.
        said = [tag for tag in tags if tag.kind == "break" or tag.start < tag.end]
        return replace(spoken, tags=tuple(sorted(said, key=lambda tag: (tag.start, -tag.end))))

    def _pronounced(self, spoken: SpokenForm, tags: list[SpokenTag]) -> list[SpokenTag]:
        """Tags for the words of the lexicon whose pronunciation is known in IPA. A word whose pronunciation the text
        itself gives isn't tagged again."""
        own = [(tag.start, tag.end) for tag in tags if tag.kind == "phonemes"]
        found = []
        for piece in spoken.pieces if self._ipa else ():
            word = spoken.written[piece.written_start : piece.written_end].strip("*_`~").casefold()
            said = self._ipa.get(word)
            start, end = piece.spoken_start, piece.spoken_end
            is_said = said is not None and spoken.text[start:end] == said.say.strip()
            if said is not None and is_said and not any(first < end and start < last for first, last in own):
                found.append(SpokenTag("phonemes", said.ipa, start, end))
        return found


def lexicon_problems(lexicon: object) -> list[str]:
    """The problems of a lexicon, each in one line; empty if it is valid."""
    if not isinstance(lexicon, Mapping):
        return [f"pronunciations must be a dict such as {{'SQL': 'sequel'}}, not {type(lexicon).__name__}"]
    problems = []
    for word, said in lexicon.items():
        if not isinstance(word, str) or not word.strip():
            problems.append(f"pronunciations: a word must be text, not {word!r}")
            continue
        bare = said.say if isinstance(said, Pronunciation) else said
        if not isinstance(bare, str) or not any(map(str.isalnum, bare)):
            problems.append(f"pronunciations[{word!r}] must be what is said, as text, not {bare!r}")
        if isinstance(said, Pronunciation) and said.ipa and not is_ipa(said.ipa):
            problems.append(f"pronunciations[{word!r}]: ipa must be phonetic letters such as 'ʃəvɔn', not {said.ipa!r}")
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
