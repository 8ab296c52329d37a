"""Reads a reply that gives values for several slots. The slot that was asked for may be one of them, but needn't be.

Rule: every word has to be understood, and each value must fit only one slot.
"""

from __future__ import annotations

from ..language.match import Match
from ..language.readings import Direct, Slot, SlotKind, Value, Why
from .carrier_words import ASSENT, DISSENT, FILLERS, POLITE
from .explained_words import covered_by, leftover, objection
from .free_text import name_in_sentence
from .from_and_to import activity_said, belongs_to_other_thing, role_said
from .grammar_for_kind import find_values, is_count_not_time
from .questions import asks_if_it_suits
from .reply_context import MOMENTS, ReplyContext
from .several_slots import Filled, assign, values_of
from .times_from_now import find_now, find_times_ahead
from .tokens import span_of
from .units import find_rate
from .yes_no import trick_of


def gives_date_and_time(c: ReplyContext) -> bool:
    """Does the reply give both a day and a time, although the agent asked for only one of them? True for "tonight at
    eight" and "in an hour"."""
    kinds = {slot.kind for slot in c.question.others}
    if not {SlotKind.DATE, SlotKind.TIME} <= {c.slot.kind, *kinds}:
        return False
    if c.today.minute is not None and find_times_ahead(c.tokens, c.today.minute):
        return True
    days = [slot for slot in c.question.others if slot.kind is SlotKind.DATE]
    return c.slot.kind is SlotKind.TIME and any(find_values(c.tokens, slot, c.today, is_asked=False) for slot in days)


def read_several(c: ReplyContext) -> Direct | None:
    """The values for the slot that was asked for and for other slots, if the reply says nothing else; otherwise
    None."""
    slots = (c.slot, *c.question.others)
    filled = assign(c.tokens, slots, c.today)
    if filled and c.is_asked and c.slot.name not in filled:
        if c.slot.kind is SlotKind.NUMBER and any(is_count_not_time(c.tokens, one) for _, one in filled.values()):
            return None
        if any(_might_answer(c, slot, match) for slot, match in filled.values()):
            return None
        filled |= _now(c) | _name_along(c)
    if not filled or any(len(match.candidates) > 1 for _, match in filled.values()):
        return None
    if c.is_asked and _is_lone_count(filled, c.slot):
        return None
    moments = [match for slot, match in filled.values() if slot.kind in MOMENTS]
    sums = [match for slot, match in filled.values() if slot.kind is SlotKind.MONEY]
    if any(belongs_to_other_thing(c.tokens, match, c.echo) for match in moments):
        return None
    if any(find_rate(c.tokens, match, c.echo) for match in sums):
        return None
    covered = covered_by(match for _, match in filled.values())
    why = objection(c.tokens, covered)
    is_asked = moments and why in (None, Why.QUESTION)
    if not (is_asked and asks_if_it_suits(c.tokens, covered, c.echo)) and (
        why is not None or leftover(c.tokens, covered, c.echo)
    ):
        return None
    values = values_of(c.reply, c.tokens, filled)
    if c.slot.kind is not SlotKind.YES_NO or (answer := _opening(c)) is None:
        return Direct(values)
    return None if trick_of(c.question.text) else Direct((answer, *values))


def _might_answer(c: ReplyContext, slot: Slot, match: Match) -> bool:
    """Could this value, which was read for another slot, be the answer to the question? Yes, if both slots take the
    same kind of value and the reply doesn't say what the value is about: "April first", when the agent asked for a date
    of birth."""
    is_alike = slot.kind is c.slot.kind and slot.kind in MOMENTS
    return is_alike and not role_said(c.tokens, match, slot.kind) and not activity_said(c.tokens, match)


def _name_along(c: ReplyContext) -> Filled:
    """The name that was asked for, in a sentence that also gives other values: "my name is Ann, and I come at six".
    Empty if there is no such name."""
    is_asked = c.slot.kind is SlotKind.NAME and c.slot.is_open
    span = name_in_sentence(c.tokens) if is_asked else None
    if span is None:
        return {}
    start, end = span_of(c.tokens, *span)
    return {c.slot.name: (c.slot, Match(*span, (c.reply[start:end],)))}


def _now(c: ReplyContext) -> Filled:
    """The current time, if the agent asked for a time and the user says "now": "now, for three people". Otherwise
    empty."""
    minute = c.today.minute
    found = find_now(c.tokens, minute) if c.slot.kind is SlotKind.TIME and minute is not None else []
    return {c.slot.name: (c.slot, found[0])} if found else {}


def _opening(c: ReplyContext) -> Value | None:
    """The yes or no at the beginning of a reply that also gives other values: "yes, a small one". None if the reply
    doesn't begin with a yes or no."""
    place = next((at for at, token in enumerate(c.tokens) if token.word not in POLITE | FILLERS), 0)
    token = c.tokens[place]
    if token.word not in ASSENT | DISSENT:
        return None
    return Value(c.slot.name, token.word in ASSENT, token.text, (token.start, token.end))


def _is_lone_count(filled: Filled, asked: Slot) -> bool:
    """Is a number without a unit the only value in the reply, and was it read for a slot that the agent didn't ask for?
    Then the user may have misspoken, or the number may be part of a date."""
    (slot, match), *more = filled.values()
    return not more and slot.kind is SlotKind.NUMBER and slot is not asked and not match.unit
