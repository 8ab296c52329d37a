"""Handles a limit or a vague wish in one clause of a reply: "in the morning, but not before nine", "not Marco, anyone
else", "as soon as possible, it's urgent", "in the spring, March perhaps".

The agent repeats the limit or wish and asks again. If only a few choices are left, it asks which of them is meant.
Rule: neither a limit nor a vague wish is used as a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from .answer_in_clause import is_exception
from .apply_commands import apply_commands
from .clauses import clauses_of, text_of, without_join
from .commands import Skip
from .interpreters import MessageInContext
from .language.days import today_of
from .language.readings import Json, Question, SlotKind, Unclear
from .language.tokens import words_of
from .preferred_values import ask_which_of, candidates_of
from .prompts import count_try
from .run_flow import continue_flow
from .state import Phase

_MEASURED = (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)
_LISTED = (SlotKind.CHOICE, SlotKind.NAME)
_LEFT_MAX = 6  # choices that the agent names after one was excluded
_VAGUE_WORDS_MAX = 7


def take_limit_in_clause(message: MessageInContext) -> bool:
    """Handle a reply in which a clause limits the value, or only says roughly what it is. Return False for any other
    reply."""
    d, kind = message.d, message.asked.slot.kind
    if kind not in _MEASURED + _LISTED or not isinstance(message.reading, Unclear):
        return False
    if d.s.among or d.s.reading_back or message.signs.asks(message.tokens):
        return False
    clauses = clauses_of(message.words, message.tokens)
    parts = [without_join(message.words, message.tokens, one) for one in clauses]
    excepted = [parts[at] for at in range(len(clauses)) if is_exception(message, clauses, at)]
    parts = [part for part in (_begun(message, part) for part in parts) if part]
    if kind in _LISTED:
        return _ask_about_rest(message, parts, excepted)
    if kind is SlotKind.DATE and any(_is_soonest(message, part) for part in parts):
        day = today_of(d.today).day
        d.enter(Phase.UNDERSTANDING)
        ask_which_of(d, (day.isoformat(), (day + timedelta(days=1)).isoformat()))
        return True
    if kind is SlotKind.TIME and message.asked.slot.may_be_any and any(_is_soonest(message, part) for part in parts):
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (Skip(),))  # the time needn't be known: "as soon as you can"
        return True
    excepted = [clauses[0], *excepted] if any(_values_at(message, part) for part in excepted) else []
    found = excepted or [part for part in parts if _limits(message, part) or _is_vague(message, part)]
    if not found:
        return False
    said = text_of(message.text, message.tokens, range(found[0].start, found[-1].stop))
    d.enter(Phase.UNDERSTANDING)
    d.say(d.domain.patterns.limited, value=said if found[0].start else said[0].lower() + said[1:])
    count_try(d)
    continue_flow(d)
    return True


def _begun(message: MessageInContext, part: range) -> range:
    """The part without polite words and hesitations at its beginning."""
    around, start = message.words.polite | message.words.fillers, part.start
    while start < part.stop and message.tokens[start].word in around:
        start += 1
    return range(start, part.stop)


def _limits(message: MessageInContext, part: range) -> bool:
    """Does this part begin with a limit, such as "after", and go on with a value?"""
    said = words_of(message.tokens[part.start : part.stop])
    around = message.words.month_ranges | message.words.common
    first = next((at for at, word in enumerate(said) if word not in around or _limit_at(message, said, at)), 0)
    part, said = range(part.start + first, part.stop), said[first:]  # "any day after Thursday"
    size = _limit_at(message, said, 0)
    if 0 < size < len(said) and _values_at(message, range(part.start + size, part.stop)):
        return True
    joint = next((at for at in range(2, len(said) - 1) if said[at] in message.words.ands), 0)
    if joint and said[0] in message.words.between:  # "between nine and ten, I'd say"
        ends = range(part.start + 1, part.start + joint), range(part.start + joint + 1, part.stop)
        return all(_values_at(message, end) for end in ends)
    places = (
        (at + len(one))
        for one in message.words.excepts
        for at in range(1, len(said))
        if said[at : at + len(one)] == one
    )
    return any(_values_at(message, range(part.start + at, part.stop)) for at in places)  # "any day except Tuesday"


def _limit_at(message: MessageInContext, said: tuple[str, ...], at: int) -> int:
    return next((len(one) for one in message.words.limits if said[at : at + len(one)] == one), 0)


def _is_vague(message: MessageInContext, part: range) -> bool:
    """Is this part only a rough wish? True for "after lunch" and "some time in March"."""
    lists, said = message.words, words_of(message.tokens[part.start : part.stop])
    if len(said) > _VAGUE_WORDS_MAX or any(lists.is_negation(word) for word in said):
        return False
    places = ((at, one) for one in lists.vague for at in range(len(said)) if said[at : at + len(one)] == one)
    wished = {near for at, one in places for near in range(at, at + len(one))}
    if message.asked.slot.kind is SlotKind.TIME and _is_soonest(message, part):
        return True
    if wished:
        around = lists.common | lists.month_ranges
        return all(at in wished or word in around for at, word in enumerate(said))
    is_month = message.asked.slot.kind is SlotKind.DATE and any(word in lists.months for word in said)
    return is_month and all(word in lists.months | lists.month_ranges | lists.common for word in said)


def _is_soonest(message: MessageInContext, part: range) -> bool:
    said = words_of(message.tokens[part.start : part.stop])
    return any(said[: len(one)] == one for one in message.words.soonest) and not message.asked.slot.is_past


def _ask_about_rest(message: MessageInContext, parts: Sequence[range], excepted: Sequence[range]) -> bool:
    """Ask about the choices that are left after one was excluded: "not Marco, anyone else", "anyone but Marco".
    `excepted` holds the parts that follow a "but"."""
    d, excluding = message.d, message.words.excluding
    excluded = [value for part in excepted for value in _values_at(message, part)]
    for part in parts:
        said = words_of(message.tokens[part.start : part.stop])
        if said[: len(excluding)] == excluding:
            excluded += _values_at(message, range(part.start + len(excluding), part.stop))
    spec = d.spec(message.asked.slot.name)
    known = tuple(one.value for one in spec.choices)
    if not known and spec.names is not None and not spec.is_open:
        known = tuple(dict.fromkeys(spec.names.values.values()))
    left = tuple(one for one in known if one not in excluded)
    if not excluded or not 0 < len(left) < len(known) or len(left) > _LEFT_MAX:
        return False
    d.enter(Phase.UNDERSTANDING)
    ask_which_of(d, left)
    return True


def _values_at(message: MessageInContext, part: range) -> tuple[Json, ...]:
    asked = Question(message.asked.slot, message.asked.text, message.asked.about)
    return candidates_of(message, text_of(message.text, message.tokens, part), asked) if part else ()
