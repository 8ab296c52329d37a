"""Changes that shift a day or a time: "a week later", "push it back half an hour".

A length in days or weeks shifts a date, and one in hours or minutes shifts a time. Rule: a reply counts only if every
other word of it is known, and a time is never shifted to another day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from .clauses import text_of
from .commands import CorrectSlot
from .flow import Domain
from .language.pack import LanguageWords
from .language.readings import Direct, Json, Question, Slot, SlotKind
from .language.tokens import Token, words_of
from .slot_names import names_of
from .state import Instance

_LENGTH = Slot("length", SlotKind.DURATION)
_DAYS = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?")
_MINUTES = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_PER_DAY = 1440
_WORDS_MAX = 16
_LENGTH_WORDS_MAX = 6


def shifts(domain: Domain, instance: Instance, text: str, today: str) -> tuple[CorrectSlot, ...]:
    """The corrections that a shift may mean: one for each filled slot that it fits, or only the one for the slot that
    the reply names. Empty for any other reply."""
    patterns = domain.pack.corrections
    for called, name in names_of(domain, instance.flow):
        if (said := patterns.named(called, text)) is not None:  # "make the end an hour later"
            return tuple(one for one in _shifts_in(domain, instance, said["new"], today) if one.slot == name)
    matches = (pattern.match(text) for pattern in (patterns.make_it, patterns.changed_mind, patterns.do_instead))
    parts = (text, *(said["new"] for said in matches if said is not None))
    found = (_shifts_in(domain, instance, part, today) for part in parts)
    return next((one for one in found if one), ())


def _shifts_in(domain: Domain, instance: Instance, text: str, today: str) -> tuple[CorrectSlot, ...]:
    tokens = domain.pack.words.tokens_of(text)
    direction = _direction(domain.pack.words, tokens) if len(tokens) <= _WORDS_MAX else 0
    within = _where_length(domain, text, tokens, today) if direction else range(0)
    around = [token for at, token in enumerate(tokens) if at not in within]
    if not within or not _is_all_known(domain, instance, around):
        return ()
    length = _length_in(domain, text_of(text, tokens, within), today)
    found = {
        name: value
        for name, filled in instance.slots
        if name in domain.slots
        and not domain.slots[name].is_past
        and (value := shifted(filled.value, domain.slots[name].kind, length, direction)) is not None
    }
    said = f" {' '.join(words_of(around))} "
    named = [name for called, name in names_of(domain, instance.flow) if name in found and f" {called} " in said]
    return tuple(CorrectSlot(name, found[name], text, (0, len(text)), "correction") for name in named[:1] or found)


def _where_length(domain: Domain, text: str, tokens: Sequence[Token], today: str) -> range:
    """The longest row of words that is a length: "an hour and a half". Empty if no words are one."""
    for size in range(min(len(tokens), _LENGTH_WORDS_MAX), 0, -1):
        for begin in range(len(tokens) - size + 1):
            within = range(begin, begin + size)
            if _length_in(domain, text_of(text, tokens, within), today) is not None:
                return within
    return range(0)


def _length_in(domain: Domain, text: str, today: str) -> Json:
    reading = domain.pack.replies.read(Question(_LENGTH), text, today)
    if not isinstance(reading, Direct) or reading.values[0].raw != text:
        return None  # "call you an hour" has words around the length
    return reading.value_of(_LENGTH.name)


def shifted(before: Json, kind: SlotKind, length: Json, direction: int) -> Json:
    """The date or time that is a length later (`direction` 1) or earlier (-1). None if the length doesn't fit the kind
    of the value, or if a time would be on another day."""
    if not isinstance(before, str) or not isinstance(length, str):
        return None
    if kind is SlotKind.DATE and (days := _DAYS.fullmatch(length)):
        count = 7 * int(days[1] or 0) + int(days[2] or 0)
        try:
            return (date.fromisoformat(before) + timedelta(direction * count)).isoformat() if count else None
        except (ValueError, OverflowError):
            return None
    clock, minutes = _CLOCK.fullmatch(before), _MINUTES.fullmatch(length)
    if kind is not SlotKind.TIME or clock is None or minutes is None:
        return None
    at = int(clock[1]) * 60 + int(clock[2]) + direction * (60 * int(minutes[1] or 0) + int(minutes[2] or 0))
    return f"{at // 60:02d}:{at % 60:02d}" if 0 <= at < _PER_DAY else None


def _direction(words: LanguageWords, around: Sequence[Token]) -> int:
    """1 for later, -1 for earlier, 0 if these words say neither or both."""
    said = words_of(around)
    is_later, is_earlier = (any(_is_in_order(one, said) for one in way) for way in (words.later, words.earlier))
    return is_later - is_earlier


def _is_in_order(phrase: Sequence[str], said: Sequence[str]) -> bool:
    """Do the words of the phrase occur in this order, perhaps with others between them ("push it back")?"""
    left = iter(said)
    return all(word in left for word in phrase)


def _is_all_known(domain: Domain, instance: Instance, around: Sequence[Token]) -> bool:
    """Are these words only words of a shift, words without content, a no at the beginning, and names of slots?"""
    words, signs = domain.pack.words, domain.pack.signs
    of_shifts = {word for phrase in (*words.later, *words.earlier) for word in phrase}
    named = {word for called, _ in names_of(domain, instance.flow) for word in called.split()}
    known = words.common | words.polite | words.fillers | words.openings | words.contrasts | of_shifts | named
    opening = next((at for at, token in enumerate(around) if token.word not in words.dissent), len(around))
    return all(
        (token.word in known or signs.only_asks_for_change((token,)))
        and not words.is_negation(token.word)
        and token.word not in words.asks_for_value
        for token in around[opening:]
    )
