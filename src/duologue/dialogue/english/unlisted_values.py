"""Reads a reply in which the slot's grammar found no value: a name that isn't on the list, free text, or words that are
almost a listed name.

Rule: if words are only similar to a listed name, the agent asks whether this name was meant, unless the slot accepts
only listed names and the similarity is high.
"""

from __future__ import annotations

from ..language.match import Match, Span
from ..language.readings import Ambiguous, Reading, SlotKind, Why
from .carrier_words import DISSENT, GIVEN_NAMES
from .choices import names_of
from .explained_words import covered_by, leftover, unclear
from .free_text import (
    answering_part,
    bare_name,
    cannot_be_a_name,
    introduced_name,
    last_said_in_full,
    named_person,
    proper_name,
    text_with_article,
    with_hyphens,
)
from .from_and_to import contradicts
from .grammar_for_kind import find_values
from .names import NameList
from .reply_context import ReplyContext
from .sounds import like
from .tokens import span_of, without_hesitations

_PARTS_MAX = 4  # the most names that the agent offers when it asks which is meant


def read_without_value(c: ReplyContext) -> Reading:
    if c.slot.may_be_any and any(token.word in DISSENT for token in c.tokens) and not c.places_outside_yes_no():
        return c.denied()  # "no, that's all"
    if c.slot.kind is SlotKind.TEXT and _is_of_another(c):
        return unclear(Why.LEFTOVER)
    left = leftover(c.tokens, frozenset(), c.echo) or _given_name(c)
    if not left:
        return c.assented()
    if (near := _near(c, left)) is not None:
        return near
    span: Span | None = None
    if c.slot.is_open and c.slot.kind is SlotKind.NAME:
        span = bare_name(c.tokens, GIVEN_NAMES if c.asks_for_person() else frozenset())
        if span is not None and cannot_be_a_name(c.tokens, span, c.today.day):
            return unclear(Why.LEFTOVER, c.tokens, left)
        span = span or proper_name(c.tokens, c.echo)
        if span is None and c.asks_for_person():
            span = introduced_name(c.tokens) or named_person(c.tokens, left)
    elif c.slot.kind is SlotKind.TEXT:
        span = bare_name(c.tokens)
        span = span if span is not None and answering_part(c.tokens, span) == span else None
        span = text_with_article(c.tokens, span) if span is not None else None
    if span is None:
        return unclear(Why.LEFTOVER, c.tokens, left)
    if c.slot.kind is SlotKind.NAME:
        span = last_said_in_full(c.tokens, span)
    start, end = span_of(c.tokens, *span)
    said = without_hesitations(c.reply[start:end])
    match = Match(*span, (with_hyphens(said) if c.slot.kind is SlotKind.NAME else said,))
    if contradicts(c.tokens, match, c.slot) or c.answers_twice(match):
        return unclear(Why.OTHER_END)
    return c.as_reading(match)


def _is_of_another(c: ReplyContext) -> bool:
    """Is the reply to a question for free text really an e-mail address or a phone number that belongs in another
    slot?"""
    slots = tuple(slot for slot in c.question.others if slot.kind in (SlotKind.PHONE, SlotKind.EMAIL))
    covered = covered_by(match for slot in slots for match in find_values(c.tokens, slot, c.today, is_asked=False))
    return bool(covered) and not leftover(c.tokens, covered, c.echo)


def _given_name(c: ReplyContext) -> list[int]:
    """The indexes of ordinary words that are a name here, because the agent asked for a name: "Will", "it's Mark".
    Empty if there are no such words."""
    if c.slot.kind is not SlotKind.NAME or not c.slot.is_open or not c.asks_for_person():
        return []
    span = bare_name(c.tokens, GIVEN_NAMES)
    return list(range(*span)) if span is not None else []


def _near(c: ReplyContext, left: list[int]) -> Reading | None:
    """Reads words that nothing else explained and that are almost a known name. If the slot accepts only listed names,
    a part of a listed name is enough. If it accepts other names too, and the known name isn't certain, the words that
    the user said are a candidate as well. None if the words are similar to no name."""
    names, run = _listed(c), Span(left[0], left[-1] + 1)
    if names is None or len(left) < run.after - run.first:
        return None
    is_open = c.slot.is_open and c.slot.kind is SlotKind.NAME
    words = [c.tokens[place].word for place in left]
    near = names.near(words)
    if not near and not is_open:
        near = names.parts(words)
        found = c.as_reading(Match(*run, near)) if 0 < len(near) <= _PARTS_MAX else None
        return found or _by_sound(c, names, words, run)
    if not near or (len(near) == 1 and names.is_sure(words, is_open=is_open)):
        return c.as_reading(Match(*run, near)) if near else None
    start, end = span_of(c.tokens, *run)
    said = c.reply[start:end]
    if is_open and len(near) == 1:  # a slip, or a name that isn't on the list: then it is said again
        if c.question.among == near:
            return c.as_reading(Match(*run, (said,)))
        return Ambiguous(c.slot.name, near, said, (start, end), must_ask=True)
    candidates = (*near, said) if is_open else near
    return c.as_reading(Match(*run, candidates)) if len(candidates) > 1 else None


def misspelled(c: ReplyContext, match: Match, left: list[int]) -> Reading | None:
    """Reads a name with one misspelled word, if the correct word alone already means the same name: "Grace Hoper" for
    "Grace Hopper". None for any other reply."""
    names, run = c.slot.names, sorted({*range(match.first, match.after), *left})
    if c.slot.kind is not SlotKind.NAME or names is None or len(run) != run[-1] + 1 - run[0]:
        return None
    words = [c.tokens[place].word for place in run]
    near = names.near(words)
    is_it = near == match.candidates and names.is_sure(words, is_open=c.slot.is_open)
    return c.as_reading(Match(run[0], run[-1] + 1, near)) if is_it else None


def _listed(c: ReplyContext) -> NameList | None:
    """The names or choices of the slot that was asked for; None if the slot has no list."""
    if c.slot.kind is SlotKind.CHOICE:
        return names_of(c.slot.choices)
    return c.slot.names if c.slot.kind is SlotKind.NAME else None


def _by_sound(c: ReplyContext, names: NameList, words: list[str], run: Span) -> Reading | None:
    """Reads words that sound like a name or choice, for a slot that accepts only listed ones: "reader" for "router".
    The agent has to ask whether this name or choice was meant. None if no name sounds like these words."""
    known = dict(names.joined)
    alike = tuple(dict.fromkeys(known[name] for name in like(" ".join(words), known)))
    start, end = span_of(c.tokens, *run)
    if len(alike) != 1:
        return None
    return Ambiguous(c.slot.name, alike, c.reply[start:end], (start, end), must_ask=True)
