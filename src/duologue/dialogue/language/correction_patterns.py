"""The patterns of corrections: "change the day to Friday", "Friday instead of Monday", "no, make it five".

Each language provides the parts, as regular expressions without groups, and the patterns are assembled from them. Rule:
a pattern matches the whole message. Its group `new` is the part that the slot's grammar has to read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class CorrectionWords:
    """The parts of corrections in one language. Each entry is a regular expression."""

    changes_of_mind: tuple[str, ...]  # they open a correction by themselves: "no", "actually"
    opening_fillers: tuple[str, ...]  # they may stand before one: "oh", "could you"
    change: str  # a verb that asks for a change
    to: str  # between a slot's name and the new value: "to", "is"
    end: str  # what may follow the new value: "please"
    owners: str  # articles before a slot's name: "the", "my"
    it_is: str  # before a new value: "make it", "I meant"
    meant: str  # says that the words before were a slip: "I meant"
    do_instead: tuple[str, str]  # around a new value: verbs before it, and "instead" after it
    instead: str  # after a new text, before a comment on it: "instead"
    no_something: str  # a no that may refuse a thing instead of correcting a value: "no bar"
    self_correction: str  # in the middle of an answer: "no", "or rather"
    it_to: str  # "change it to", which may be left out
    instead_of: str  # between the new and the old value
    not_but: tuple[str, str]  # before the old value, and between the old and the new one: "not", "but"
    both: str  # joins two corrections: "and"
    both_names: str  # joins two names of slots: "the day and the time"
    adds: str  # says that the user wants a further value: "also", "as well"
    asks_agent: str  # begins a request to the agent, not a new value: "phone me"
    wrong: tuple[str, ...]  # says that a value is wrong; {name} is the slot's name with an article, {bare} without


@dataclass(frozen=True, slots=True, eq=False)
class CorrectionPatterns:
    """The assembled patterns of one language. Build them with `correction_patterns`."""

    words: CorrectionWords
    opening: str
    make_it: re.Pattern[str]
    meant: re.Pattern[str]
    meant_instead: re.Pattern[str]
    changed_mind: re.Pattern[str]
    do_instead: re.Pattern[str]
    no_something: re.Pattern[str]
    repair: re.Pattern[str]
    swap: re.Pattern[str]
    change_old: re.Pattern[str]
    not_but: re.Pattern[str]
    not_then: re.Pattern[str]
    only_not: re.Pattern[str]
    replaces: re.Pattern[str]
    ends_new: re.Pattern[str]
    both: re.Pattern[str]
    both_names: re.Pattern[str]
    adds: re.Pattern[str]
    asks_agent: re.Pattern[str]

    def named(self, called: str, text: str) -> re.Match[str] | None:
        """The match for texts such as "change the NAME to VALUE", "the NAME should be VALUE" or "make the NAME VALUE".
        `called` is the NAME. None for any other text."""
        to_value, without_to = _naming(self, called)
        return to_value.match(text) or without_to.match(text)

    def says_wrong(self, called: str, text: str) -> bool:
        """Does the text say that a value is wrong, as in "the NAME is wrong"? `called` is the NAME."""
        return any(pattern.match(text) for pattern in _calling_wrong(self, called))

    def wants_change(self, called: str, text: str) -> bool:
        """Does the text ask to change NAME without giving a new value? `called` is the NAME."""
        return _changing(self, called).match(text) is not None


def correction_patterns(words: CorrectionWords) -> CorrectionPatterns:
    """Assemble the patterns of a language from its parts."""
    minds, fillers = "|".join(words.changes_of_mind), "|".join(words.opening_fillers)
    opening = rf"(?:(?:{minds}|{fillers})[,.!]?\s+)*"
    before, after = words.do_instead
    denial, contrast = words.not_but
    return CorrectionPatterns(
        words,
        opening,
        _compiled(rf"^(?:{opening}){words.it_is}\s+(?P<new>.+?){words.end}"),
        _compiled(words.meant),
        _compiled(rf"^(?P<old>.+?)[,.;!?]\s+(?:(?:{minds}|{fillers})[,.!]?\s+)*(?:{words.meant})\s+(?P<new>.+)$"),
        _compiled(rf"^(?:(?:{fillers})[,.!]?\s+)*(?:{minds})[,.!]?\s+{opening}(?P<new>.+?){words.end}"),
        _compiled(rf"^{opening}{before}(?P<new>.+?){after}"),
        _compiled(words.no_something),
        _compiled(rf"^(?P<old>.+?),? (?:{words.self_correction}[,.]? )+(?P<new>.+?){words.end}"),
        _compiled(rf"^{opening}{words.it_to}{before}(?P<new>.+?),? {words.instead_of} (?P<old>.+?)[.!?]*$"),
        _compiled(rf"^{opening}{words.change} (?:(?:{words.owners}) )?(?P<old>.+?){words.to}(?P<new>.+?){words.end}"),
        _compiled(rf"^{opening}{denial} (?P<old>.+?)[,;]?{contrast} (?P<new>.+?)[.!]*$"),
        _compiled(rf"^{opening}{denial} (?P<old>[^,;.]+)[,;.]\s+(?P<new>.+?)[.!]*$"),
        _compiled(rf"^{opening}{denial} (?P<old>.+?)[.!]*$"),
        _compiled(rf"^(?P<new>.+?),? {words.instead_of} (?P<old>.+?)[.!]*$"),
        _compiled(rf"^(?P<new>.+?),? {words.instead}\b.+$"),
        _compiled(words.both),
        _compiled(words.both_names),
        _compiled(rf"\b{words.adds}(?!\w)"),
        _compiled(words.asks_agent),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=256)
def _naming(patterns: CorrectionPatterns, called: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words, name = patterns.words, re.escape(called)
    opening, owners = patterns.opening, f"(?:{words.owners})? ?{name}"
    return (
        _compiled(rf"^{opening}(?:{words.change} )?{owners}{words.to}(?P<new>.+?){words.end}"),
        _compiled(rf"^{opening}{words.change} {owners} (?!please|bitte|por favor)(?P<new>.+?){words.end}"),
    )


@lru_cache(maxsize=256)
def _calling_wrong(patterns: CorrectionPatterns, called: str) -> tuple[re.Pattern[str], ...]:
    words, bare = patterns.words, re.escape(called)
    name = rf"(?:{words.owners}|that|this) {bare}"
    return tuple(
        _compiled(rf"^{patterns.opening}{each.replace('{name}', name).replace('{bare}', bare)}{words.end}")
        for each in words.wrong
    )


@lru_cache(maxsize=256)
def _changing(patterns: CorrectionPatterns, called: str) -> re.Pattern[str]:
    words = patterns.words
    return _compiled(rf"^{patterns.opening}{words.change} (?:{words.owners}) {re.escape(called)}{words.end}")
