"""Corrections in a reply that isn't wholly understood: "actually Thursday would suit my sister better", "fine, but make
it Saturday", "no, change the day to Wednesday".

The reply is split into clauses, and each clause may give one new value. Rule: these corrections are used only where the
agent asks for a confirmation after them, so that the user hears every new value before anything is done. A clause that
asks or denies something changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import pairwise

from .clauses import clauses_of, text_of
from .commands import ClearSlot, CorrectSlot, SetSlot
from .corrections import (
    Correction,
    compares,
    corrections,
    is_asked,
    named_slot,
    slots_that_fit,
    told_slot,
    value_for_slot,
)
from .flow import Domain
from .language.correction_patterns import CorrectionPatterns
from .language.readings import ANY, Ambiguous, Direct, Json, Question, SlotKind
from .language.tokens import words_of
from .reference_day import slot_to_correct
from .slot_names import names_of
from .state import Instance

_LENGTH_MAX = 200
_MOMENTS = (SlotKind.DATE, SlotKind.TIME)
_MEASURED = (*_MOMENTS, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)
_VALUE_WORDS_MAX = 4
_WORDS_TOLD_MAX = 1  # a clause with a new value may have this many words of its own beside the value
_LISTED = (SlotKind.CHOICE, SlotKind.NAME)
_PAUSES = re.compile(r"\s*[,;.!?]+\s+|\s+-+\s+")


@dataclass(frozen=True, slots=True)
class UnclearChange:
    """A reply that changes a filled slot, but may mean several new values: "Wednesday", if today is a Wednesday."""

    slot: str
    candidates: tuple[Json, ...]


def corrections_in_part(domain: Domain, instance: Instance, text: str, today: str) -> tuple[Correction, ...]:
    """The corrections in the clauses of a reply. If several clauses correct the same slot, only the last correction is
    returned. Once a clause has named a slot, the other clauses correct no other slot, unless they name it. Empty if no
    clause corrects anything."""
    found: dict[str, Correction] = {}
    wrong = _called_wrong(domain, instance, text)
    for clause in _clauses(domain, text):
        fitting = slots_in_clause(domain, instance, clause, text, today)
        if len(fitting) > 1:
            continue  # the agent asks which slot is meant
        if fitting and _says_name(domain, instance, fitting[0], text.replace(clause, " ", 1)):
            found.update({one.slot: one for one in value_for_slot(domain, instance, fitting[0], clause, today)})
            continue  # "except the time, it should be nine"
        named = wrong or frozenset(one for one in found if _says_name(domain, instance, one, text))
        is_asked_last = " ".join(text.split()).endswith(f"{clause}?")
        for one in _in_clause(domain, instance, clause, today, is_question=is_asked_last):
            if _is_more_precise(domain, found.get(one.slot), one, today):
                continue  # "last Monday, the sixteenth"
            if not named or one.slot in named or _says_name(domain, instance, one.slot, clause):
                found[one.slot] = one
    return tuple(_with_new_value(domain, one, text, today) for one in found.values())


def unclear_slots(domain: Domain, instance: Instance, text: str, today: str) -> tuple[str, ...]:
    """The slots that a new value in the reply may be for, if a clause changes something and several slots fit it. Empty
    if it is clear which slot is meant, or if another clause gives a clear correction."""
    if not opens_correction(domain, text) or corrections_in_part(domain, instance, text, today):
        return ()
    for clause in _clauses(domain, text):
        if len(slots := slots_in_clause(domain, instance, clause, text, today)) > 1:
            return slots
    return ()


def slots_in_clause(domain: Domain, instance: Instance, clause: str, text: str, today: str) -> tuple[str, ...]:
    """The slots that the clause may change, if it names none of them. If the reply also mentions the current value of
    some of these slots ("forget ten, put it back to nine"), or names one ("except the time, it should be nine"), only
    those."""
    plain = domain.pack.corrections.make_it.match(clause) or domain.pack.corrections.changed_mind.match(clause)
    if plain is None or domain.pack.corrections.swap.match(clause):
        return ()
    if named_slot(domain, instance, clause, today) is not None:
        return ()
    filled = tuple(name for name, _ in instance.slots if name in domain.slots)
    fitting = slots_that_fit(domain, instance, filled, clause, today)
    if len(fitting) < 2:
        return fitting
    rest = text.replace(clause, " ", 1)
    named = tuple(name for name in fitting if _says_name(domain, instance, name, rest))
    return named or tuple(name for name in fitting if _mentions(domain, instance, name, rest, today)) or fitting


def _mentions(domain: Domain, instance: Instance, slot: str, text: str, today: str) -> bool:
    """Does a clause of the text end with the current value of the slot, as in "forget ten"?"""
    filled = instance.filled(slot)
    for clause in _clauses(domain, text):
        words = clause.split()
        for size in range(min(len(words), _VALUE_WORDS_MAX), 0, -1):
            reading = domain.pack.replies.read(
                Question(slot_to_correct(domain.slots[slot], filled)), " ".join(words[-size:]), today
            )
            values = reading.candidates if isinstance(reading, Ambiguous) else ()
            if isinstance(reading, Direct):
                values = (reading.value_of(slot),)
            if filled is not None and filled.value in values:
                return True
    return False


def calls_wrong(domain: Domain, instance: Instance, text: str) -> bool:
    """Does a clause say that the value of a slot is wrong? True for "the name's wrong, it's Bill Sharp"."""
    return bool(_called_wrong(domain, instance, text))


def _called_wrong(domain: Domain, instance: Instance, text: str) -> frozenset[str]:
    """The slots whose values the reply calls wrong."""
    patterns = domain.pack.corrections
    return frozenset(
        name
        for clause in _clauses(domain, text)
        for called, name in names_of(domain, instance.flow)
        if instance.filled(name) is not None and patterns.says_wrong(called, clause)
    )


def _with_new_value(domain: Domain, one: Correction, text: str, today: str) -> Correction:
    """If the correction only empties a slot, and the reply goes on with a new value for it ("it's Friday", "it's oh
    seven nine, double one, …"), return a correction with this value. Otherwise return the correction unchanged."""
    if not isinstance(one, ClearSlot):
        return one
    spec = domain.slots[one.slot]
    for rest in _rests(domain, text):
        said = domain.pack.corrections.make_it.match(rest)
        if said is None:
            continue
        if spec.kind is SlotKind.TEXT:
            return CorrectSlot(one.slot, said["new"], said["new"], source="correction")
        reading = domain.pack.replies.read(Question(slot_to_correct(spec, None)), said["new"], today)
        value = reading.value_of(one.slot) if isinstance(reading, Direct) else None
        if value is not None:
            return CorrectSlot(one.slot, value, said["new"], source="correction")
    return one


def _rests(domain: Domain, text: str) -> list[str]:
    """The parts of the reply that may be a correction: the reply from each pause on, and then each single clause."""
    whole = " ".join(text.split())
    return [whole[pause.end() :] for pause in _PAUSES.finditer(whole)] + _clauses(domain, text)


def opens_correction(domain: Domain, text: str) -> bool:
    """Does a clause of the reply begin like a correction, with words such as "no", "actually", "make it" or "change"?
    Or does it say that something suits better, or replace a value ("eleven instead of ten")?"""
    patterns = domain.pack.corrections
    return any(
        _openings(patterns).match(clause) or _suits_better(domain, clause) or patterns.swap.match(clause)
        for clause in _clauses(domain, text)
    )


def _suits_better(domain: Domain, clause: str) -> bool:
    words = domain.pack.words
    said = words_of(words.tokens_of(clause))
    return any(said[at : at + len(one)] == one for one in words.prefers_after for at in range(1, len(said)))


def unclear_change(domain: Domain, instance: Instance, text: str, today: str) -> UnclearChange | None:
    """The new day or time in a reply, if it may mean several days or times and the flow can ask which one is meant.
    None if the reply has no such value."""
    has_opening = opens_correction(domain, text)
    for clause in _clauses(domain, text):
        for slot, new in _new_moments(domain, instance, clause):
            spec, filled = domain.slots[slot], instance.filled(slot)
            if filled is None or not is_asked(domain, instance, slot):
                continue
            for text_of_value in _beginnings(new) if spec.kind is SlotKind.DATE and has_opening else (new,):
                reading = domain.pack.replies.read(Question(slot_to_correct(spec, filled)), text_of_value, today)
                if isinstance(reading, Ambiguous):
                    return UnclearChange(slot, reading.candidates)
    return None


def _beginnings(text: str) -> Iterator[str]:
    """The whole text, and then its beginnings, each one word shorter. One of them may be a value: "Wednesday would suit
    me" begins with a day."""
    words = text.split()
    return (" ".join(words[:count]) for count in range(len(words), 0, -1))


def second_values(domain: Domain, instance: Instance, text: str, today: str) -> UnclearChange | None:
    """The slot to which the reply adds a second value although the slot takes only one; its candidates are the old and
    the added value. None if the reply adds no such value. Example: "yes, and a keyboard too", if the value of the slot
    is "headset"."""
    adds = domain.pack.corrections.adds
    if not adds.search(text) or len(text) > _LENGTH_MAX:
        return None
    filled = [domain.slots[name] for name, _ in instance.slots if name in domain.slots]
    listed = [spec for spec in filled if spec.kind in _LISTED and is_asked(domain, instance, spec.name)]
    for clause in _clauses(domain, text):
        plain = adds.sub(" ", _without_opening(domain, clause))
        for value in domain.pack.replies.read_parts(tuple(spec.grammar_slot for spec in listed), plain, today):
            before = instance.filled(value.slot)
            if before is not None and value.value != before.value:
                return UnclearChange(value.slot, (before.value, value.value))
    return None


def _is_more_precise(domain: Domain, first: Correction | None, second: Correction, today: str) -> bool:
    """Do two clauses give days of different months, but with the same number, and is the first nearer to today? Then
    the second only repeats the number of the first: "last Monday, the sixteenth"."""
    if first is None or isinstance(first, ClearSlot) or isinstance(second, ClearSlot):
        return False
    if domain.slots[second.slot].kind is not SlotKind.DATE or str(first.value)[-2:] != str(second.value)[-2:]:
        return False
    now, one, other = (date.fromisoformat(str(day)[:10]) for day in (today, first.value, second.value))
    return abs(one - now) <= abs(other - now)


def _in_clause(
    domain: Domain, instance: Instance, clause: str, today: str, *, is_question: bool = False
) -> tuple[Correction, ...]:
    """The corrections in one clause. `is_question` says that it ends with a question mark: "it arrives today?"."""
    pack = domain.pack
    plain = _without_opening(domain, clause)
    if pack.signs.asks(pack.words.tokens_of(plain)) or pack.corrections.adds.search(clause):
        return ()
    if pack.corrections.asks_agent.match(plain):
        return ()  # "I'll call again tomorrow"
    found = corrections(domain, instance, clause, today)
    if not found and plain != clause:
        found = corrections(domain, instance, plain, today)
    if not found:
        named = named_slot(domain, instance, clause, today)
        found = named[1] if named is not None else ()
    if not found and any(pack.words.is_negation(token.word) for token in pack.words.tokens_of(plain)):
        return ()  # "it wasn't the twentieth"
    if not found:
        held = tuple(told_slot(domain.slots[name]) for name, _ in instance.slots if name in domain.slots)
        parts = pack.replies.read_parts(tuple(one for one in held if _is_closed(one.kind)), plain, today)
        found = tuple(
            CorrectSlot(one.slot, one.value, one.raw, source="correction")
            for one in parts
            if domain.slots[one.slot].kind not in _MEASURED
            or not tells_more(domain, plain, one.span, words_max=0 if is_question else _WORDS_TOLD_MAX)
            if not compares(domain, one.slot, plain, one.raw)
        )
    return tuple(
        _without_span(one)
        for one in found
        if _is_change(instance, one)
        and (isinstance(one, ClearSlot) or one.value != ANY)
        and (_is_closed(domain.slots[one.slot].kind) or _names_slot(domain, instance, one, clause))
    )


def tells_more(domain: Domain, clause: str, span: tuple[int, int], words_max: int = _WORDS_TOLD_MAX) -> bool:
    """Does the clause tell a story, so that the day or number in it may be only a detail? True for "my husband's
    wearing it on Tuesday", but not for "Tuesday would suit us"."""
    words = domain.pack.words
    around = words.common | words.polite | words.fillers | {word for phrase in words.prefers_after for word in phrase}
    told = [
        token.word
        for token in words.tokens_of(clause)
        if not span[0] <= token.start < span[1] and not {token.word, token.word.partition("'")[0]} & around
    ]
    return len(told) > words_max


def _names_slot(domain: Domain, instance: Instance, one: Correction, clause: str) -> bool:
    return _says_name(domain, instance, one.slot, clause)


def _says_name(domain: Domain, instance: Instance, slot: str, text: str) -> bool:
    """Does the text name the slot?"""
    said = f" {' '.join(token.word for token in domain.pack.words.tokens_of(text))} "
    return any(name == slot and f" {called} " in said for called, name in names_of(domain, instance.flow))


def _is_closed(kind: SlotKind) -> bool:
    """Can a grammar find values of this kind among other words? It can't find free text, codes, lists, or a yes or
    no."""
    return kind not in (SlotKind.TEXT, SlotKind.CODE, SlotKind.YES_NO, SlotKind.LIST)


def _is_change(instance: Instance, one: Correction) -> bool:
    before = instance.filled(one.slot)
    return before is not None and (isinstance(one, ClearSlot) or one.value != before.value)


def _without_span(one: Correction) -> Correction:
    """The correction without its span, because that span is counted from the beginning of the clause and not of the
    reply."""
    return replace(one, span=(0, 0)) if isinstance(one, CorrectSlot | SetSlot) else one


def _new_moments(domain: Domain, instance: Instance, clause: str) -> Iterator[tuple[str, str]]:
    """The days and times that a clause may give, each with its slot. If the clause names no slot, its day belongs to
    the only filled slot for days, and its time to the only filled slot for times."""
    moments = [name for name, _ in instance.slots if name in domain.slots and domain.slots[name].kind in _MOMENTS]
    for called, name in names_of(domain, instance.flow):
        if name in moments and (said := domain.pack.corrections.named(called, clause)) is not None:
            yield name, said["new"]
            return
    for kind in _MOMENTS:
        of_kind = [name for name in moments if domain.slots[name].kind is kind]
        if len(of_kind) == 1:
            yield of_kind[0], _without_opening(domain, clause)


def _clauses(domain: Domain, text: str) -> list[str]:
    """The clauses of a reply. A reply that is too long has none."""
    text = " ".join(text.split())
    if len(text) > _LENGTH_MAX:
        return []
    parts = _PAUSES.split(text)
    if len(parts) == 1:
        parts = _clauses_without_pauses(domain, text)
    halves = [half for part in parts for half in _halves(domain, part)]
    return [half.strip(" ,.!?") for half in halves if half.strip(" ,.!?")]


def _clauses_without_pauses(domain: Domain, text: str) -> list[str]:
    """The clauses of a reply without punctuation: "book it" and "but six people" in "book it but six people"."""
    words = domain.pack.words
    tokens = words.tokens_of(text)
    clauses = clauses_of(words, tokens)
    starts = [one.start for one in clauses if one.start == 0 or tokens[one.start].word not in words.ands]
    return [text_of(text, tokens, range(start, stop)) for start, stop in pairwise((*starts, len(tokens)))]


def _halves(domain: Domain, part: str) -> list[str]:
    """The parts of a clause on both sides of an "and". A number such as "a hundred and twenty" stays whole."""
    words = domain.pack.words
    found = domain.pack.corrections.both.split(part)
    ends = [words.tokens_of(half) for half in found]
    is_number = any(
        left and right and words.is_number(left[-1].word) and words.is_number(right[0].word)
        for left, right in pairwise(ends)
    )
    return [part] if is_number else found


def _without_opening(domain: Domain, clause: str) -> str:
    """The clause without words such as "actually", "make it" or "after all" around the new value."""
    patterns = domain.pack.corrections
    rest = _before_value(patterns).sub("", f"{clause} ", count=1).strip()
    ended = _after_value(patterns).sub("", rest)
    return ended or clause


@lru_cache(maxsize=8)
def _before_value(patterns: CorrectionPatterns) -> re.Pattern[str]:
    return re.compile(rf"^(?:{patterns.opening})(?:{patterns.words.it_is}\s+)?", re.IGNORECASE)


@lru_cache(maxsize=8)
def _after_value(patterns: CorrectionPatterns) -> re.Pattern[str]:
    return re.compile(patterns.words.end, re.IGNORECASE)


@lru_cache(maxsize=8)
def _openings(patterns: CorrectionPatterns) -> re.Pattern[str]:
    words = patterns.words
    minds, fillers = "|".join(words.changes_of_mind), "|".join(words.opening_fillers)
    opening = rf"(?:{minds}|{words.it_is}|{words.change}|{words.not_but[0]})(?:\s|$)"
    return re.compile(rf"^(?:(?:{fillers})[,.!]?\s+)*{opening}", re.IGNORECASE)
