"""Handles replies that name two values with an "or" between them: "nine, or half past nine, after the school run",
"yesterday or the day before".

The agent asks which of the two is meant. Rule: neither value is used before the user has answered this question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .clauses import clauses_of, text_of
from .interpreters import MessageInContext
from .language.readings import ANY, Json, Question, SlotKind, Unclear
from .language.tokens import words_of
from .preferred_values import ask_which_of, candidates_of
from .state import Phase

_KINDS = (
    SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION, SlotKind.CHOICE, SlotKind.NAME,
)  # fmt: skip
_COUNTED = (SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)  # for these kinds, "three to four" is a range
_SHARED_WORDS_MAX = 3  # the most words of the second value that the first one shares: "three or four pm"
_CANDIDATES_MAX = 6


def take_alternatives(message: MessageInContext) -> bool:
    """Ask which of two values is meant, if the reply names two with an "or" between them. Return False for any other
    reply."""
    d, slot = message.d, message.asked.slot
    if slot.kind not in _KINDS or d.s.among:
        return False
    if d.s.reading_back or not isinstance(message.reading, Unclear) or message.signs.asks(message.tokens):
        return False
    for at, token in enumerate(message.tokens):
        more = message.words.tos | message.words.maybes if slot.kind in _COUNTED else frozenset[str]()
        joints = message.words.ors | more
        if token.word not in joints or not 0 < at < len(message.tokens) - 1 or _is_or_so(message, at):
            continue
        found = _values_around(message, at)
        if 1 < len(found) <= _CANDIDATES_MAX and not _is_settled(message, at, found):
            d.enter(Phase.UNDERSTANDING)
            ask_which_of(d, found)
            return True
    return False


def _is_or_so(message: MessageInContext, at: int) -> bool:
    """Do words such as "or so" begin here, which only say that the value before them is rough?"""
    return any(words_of(message.tokens[at : at + len(one)]) == one for one in message.words.or_so)


def _is_settled(message: MessageInContext, at: int, found: tuple[Json, ...]) -> bool:
    """Does a later clause choose one of the two values? True for "the library or the bus. The library, I think"."""
    later = [clause for clause in clauses_of(message.words, message.tokens) if clause.start > at]
    texts = [text_of(message.text, message.tokens, clause) for clause in later]
    return any(len(said) == 1 and said[0] in found for said in (_read(message, text) for text in texts))


def _values_around(message: MessageInContext, at: int) -> tuple[Json, ...]:
    """The values before and after the "or" at the token `at`; empty if one of the two can't be read."""
    clauses = clauses_of(message.words, message.tokens)
    last = at - 1
    while last > 0 and message.tokens[last].word in message.words.fillers:
        last -= 1  # "two nights, well, maybe three"
    before = next(clause for clause in clauses if last in clause)
    after = next(clause for clause in clauses if at + 1 in clause)
    ors = [place for place in range(before.start, last) if message.tokens[place].word in message.words.ors]
    left = text_of(message.text, message.tokens, range(ors[-1] + 1 if ors else before.start, last + 1))
    is_range = message.tokens[at].word in message.words.tos
    if is_range and not any(message.words.is_number(token.word) for token in message.words.tokens_of(left)):
        return ()  # "up to three hundred"
    for right in _ends(message, range(at + 1, after.stop)):
        second = _read(message, right)
        if not second and message.asked.slot.kind in _COUNTED:
            second = _read(message, f"{right} {left.split()[-1]}")  # "an hour, maybe two"
        second = second or _read(message, f"{right} {left}")  # "eleven or half past"
        first = _with_shared_words(message, left, right) or _read(message, left)
        second = second or _read(message, right, str(first[0]) if first else "")
        if first and second and first != second:
            return (*first, *(value for value in second if value not in first))  # amounts of money can't be hashed
    return ()


def _ends(message: MessageInContext, part: range) -> Iterator[str]:
    """The words after the "or": first all of them, then one word fewer each time. For "or Tuesday I think" these are
    "Tuesday I think", "Tuesday I" and "Tuesday"."""
    for stop in range(part.stop, part.start, -1):
        yield text_of(message.text, message.tokens, range(part.start, stop))


def _with_shared_words(message: MessageInContext, left: str, right: str) -> tuple[Json, ...]:
    """The first value, completed with the last words of the second one: "45 thousand" for "45 or 50 thousand"."""
    said = right.split()
    is_counted = message.asked.slot.kind not in (SlotKind.DATE, SlotKind.TIME)
    for size in range(min(_SHARED_WORDS_MAX, len(said) - 1), 0, -1):
        if not is_counted and any(message.words.is_number(word) for word in said[-size:]):
            continue  # "nine or half past nine"
        if found := _read(message, f"{left} {' '.join(said[-size:])}"):
            return found
    return ()


def _read(message: MessageInContext, text: str, since: str = "") -> tuple[Json, ...]:
    slot = message.asked.slot
    if since and slot.kind is SlotKind.DATE:
        slot = replace(slot, since=since)
    asked = Question(slot, message.asked.text, message.asked.about)
    found = tuple(value for value in candidates_of(message, text, asked) if value != ANY)
    if slot.kind is SlotKind.NAME and slot.is_open:  # any words can be a name, so only names on the list are used
        known = tuple(slot.names.values.values()) if slot.names is not None else ()
        return tuple(value for value in found if value in known)
    return found
