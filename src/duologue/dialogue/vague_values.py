"""Replies that limit a value without giving it: "after four", "not Monday", "at least three".

The agent repeats the limit and asks the question again. Rule: a limit is never used as a value.
"""

from __future__ import annotations

from .interpreters import MessageInContext
from .language.readings import Ambiguous, Direct, Question, SlotKind, Unclear, Why
from .prompts import count_try
from .run_flow import continue_flow
from .state import Phase

_KINDS = (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION, SlotKind.CHOICE)
_REASONS = (Why.MARKER, Why.NEGATED, Why.LEFTOVER, Why.NO_VALUE, Why.OTHER_END, Why.SEVERAL)


def take_vague_value(message: MessageInContext) -> bool:
    """Handle a reply that only limits the value that was asked for: repeat the limit, and ask the question again.
    Return False for any other reply."""
    d, reading, tokens = message.d, message.reading, message.tokens
    if message.asked.slot.kind not in _KINDS or not isinstance(reading, Unclear):
        return False
    if reading.why not in _REASONS:
        return False
    lists = message.words
    first = next((at for at, token in enumerate(tokens) if token.word not in lists.polite | lists.fillers), len(tokens))
    words = tuple(token.word for token in tokens[first:])
    limit = next((one for one in lists.limits if words[: len(one)] == one), None)
    if limit is None and not d.s.among and _has_two_ends(message, first):
        return _repeat(message, first)
    is_doubt = any(words[: len(one)] == one for one in lists.lacking)  # "not sure, two or three"
    if limit is None or len(words) == len(limit) or is_doubt:
        return False
    value = _value_in(message, message.text[tokens[first + len(limit)].start :])
    if value is None or (d.s.among and limit != lists.excluding):
        return False
    return _exclude(message, value) if d.s.among else _repeat(message, first)


def _repeat(message: MessageInContext, first: int) -> bool:
    """Repeat the limit that begins with the token `first`, and ask the question again."""
    d = message.d
    d.enter(Phase.UNDERSTANDING)
    d.say(d.domain.patterns.limited, value=message.text[message.tokens[first].start :].rstrip(" .!?,"))
    count_try(d)
    continue_flow(d)
    return True


def _value_in(message: MessageInContext, text: str) -> Direct | Ambiguous | None:
    """A part of the reply, read as a value of the slot that was asked for; None if it can't be read."""
    asked = Question(message.asked.slot, message.asked.text, message.asked.about)
    reading = message.d.domain.pack.replies.read(asked, text, message.d.today)
    return reading if isinstance(reading, Direct | Ambiguous) else None


def _has_two_ends(message: MessageInContext, first: int) -> bool:
    """Does a limit with two ends, such as "between ten and twelve", begin with the token `first`?"""
    words, tokens = message.words, message.tokens[first:]
    joint = next((at for at in range(2, len(tokens) - 1) if tokens[at].word in words.ands), 0)
    if not joint or tokens[0].word not in words.between:
        return False
    ends = message.text[tokens[1].start : tokens[joint - 1].end], message.text[tokens[joint + 1].start :]
    return all(_value_in(message, end) is not None for end in ends)


def _exclude(message: MessageInContext, value: Direct | Ambiguous) -> bool:
    """The agent asked which of several values was meant, and the user excludes one of them: ask about the remaining
    values."""
    d = message.d
    named = value.candidates if isinstance(value, Ambiguous) else (value.value_of(message.asked.slot.name),)
    left = tuple(one for one in d.s.among if one not in named)
    if not left or len(left) == len(d.s.among):
        return False
    d.enter(Phase.UNDERSTANDING)
    count_try(d)
    d.set(among=left)
    continue_flow(d)
    return True
