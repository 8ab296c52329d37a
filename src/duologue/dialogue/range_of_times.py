"""Handles a reply that gives the beginning and the end of something, while only the beginning was asked for: "from
about eleven till four in the morning", after "when did it start?".

Rule: the end is never used as the answer. The agent repeats the beginning, or asks which time is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .answer_in_clause import FoundAnswer, use_found
from .clauses import text_of
from .interpreters import MessageInContext
from .language.readings import Ambiguous, Direct, Json, Question, SlotKind, Unclear
from .language.tokens import words_of

_VALUE_WORDS_MAX = 5
_ENDS = frozenset("end ends finish stop close closing".split())  # in the names of slots


def take_beginning(message: MessageInContext) -> bool:
    """Use the first of two times with a "till" between them. Return False for any other reply."""
    d, slot = message.d, message.asked.slot
    if slot.kind is not SlotKind.TIME or d.s.among or d.s.reading_back or not isinstance(message.reading, Unclear):
        return False
    if message.signs.asks(message.tokens) or _asks_for_end(message):
        return False
    for at in _joints(message):
        before, after = _words_before(message, at), range(at + 1, len(message.tokens))
        begins = next((part for part in _ends_of(before) if _read(message, part)), None)
        if begins is None or not any(_read(message, part) for part in _starts_of(after)):
            continue
        use_found(message, FoundAnswer(range(1), begins, _read(message, begins)))
        return True
    return False


def _asks_for_end(message: MessageInContext) -> bool:
    """Did the agent ask for the end, as in "until when?"?"""
    words = message.words
    named = words.tokens_of(message.asked.slot.name.replace("_", " "))
    asked = {token.word for token in (*words.tokens_of(message.asked.text), *named)}
    return bool(asked & (words.tills | _ENDS))


def _joints(message: MessageInContext) -> Iterator[int]:
    """The indexes of words such as "till" between two times."""
    return (at for at in range(1, len(message.tokens) - 1) if message.tokens[at].word in message.words.tills)


def _words_before(message: MessageInContext, at: int) -> range:
    """The words in front of the "till", in the same clause. Words behind a limit such as "after" give no beginning."""
    said, first, limits = words_of(message.tokens), at, message.words.limits
    while first > max(0, at - _VALUE_WORDS_MAX) and not (first < at and message.tokens[first].pause):
        if any(said[max(0, first - len(limit)) : first] == limit for limit in limits):
            return range(at, at)
        first -= 1
    return range(first, at)


def _ends_of(part: range) -> Iterator[range]:
    return (range(start, part.stop) for start in part)


def _starts_of(part: range) -> Iterator[range]:
    return (range(part.start, stop) for stop in reversed(range(part.start + 1, part.stop + 1)))


def _read(message: MessageInContext, part: Sequence[int]) -> tuple[Json, ...]:
    """The times that this part of the reply may mean; empty if it isn't a time."""
    asked = Question(message.asked.slot, message.asked.text, message.asked.about)
    words = text_of(message.text, message.tokens, range(part[0], part[-1] + 1))
    reading = message.d.domain.pack.replies.read(asked, words, message.d.today)
    if isinstance(reading, Ambiguous):
        return reading.candidates
    return (reading.values[0].value,) if isinstance(reading, Direct) else ()
