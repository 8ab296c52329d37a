"""Handles a reply to an earlier question instead of the open one: the user repeats an earlier answer, or gives a
different one.

Example: the user says "93 thousand", the agent asks the next question, and the user says "93 thousand" again. Rule:
this is tried only if the reply doesn't answer the open question. A repeated answer changes nothing. A different answer
is a correction, and the agent tells the user what it changed.
"""

from __future__ import annotations

from .apply_commands import apply_commands
from .clauses import clauses_of, text_of
from .commands import CorrectSlot
from .draft import DialogueDraft
from .interpreters import MessageInContext
from .language.readings import Ambiguous, Direct, Question, SlotKind, Unclear, Value
from .prompts import count_try
from .reference_day import slot_to_correct
from .run_flow import continue_flow
from .state import Filled, Phase
from .unconfirmed_values import is_checking
from .yes_and_no import say_yes

_WORDS_MAX = 12  # a longer reply isn't only a repeated value, not even a spelled one


def take_repeated_answer(message: MessageInContext) -> bool:
    """Handle a reply that repeats or replaces an earlier answer. Return False for any other reply."""
    d = message.d
    if not isinstance(message.reading, Unclear) or d.s.among or d.s.reading_back or message.signs.asks(message.tokens):
        return False
    for name, filled in reversed(d.top.slots):
        if name not in d.domain.slots or name == d.s.waiting_for or d.s.turn_count == filled.turn:
            continue
        if _is_same_again(message, name, filled) or _is_said_again(message, name, filled):
            _go_on(d)
            return True
        if name in d.top.asked and (found := _other_value(message, name, filled)) is not None:
            d.enter(Phase.UNDERSTANDING)
            apply_commands(d, (found,))
            return True
    return False


def take_repeated_before_text(message: MessageInContext) -> bool:
    """Handle a repeated answer while the open question asks for free text, which accepts any words. If the user says
    "LN 2093" a second time, it must not become, for example, the title of a book. Return False for any other reply."""
    d = message.d
    if message.asked.slot.kind is not SlotKind.TEXT:
        return False
    for name in d.top.asked:
        filled = d.top.filled(name)
        is_last = filled is not None and _is_last(d, filled)
        if filled is not None and is_last and _is_bare_value(message, name) and _is_same_again(message, name, filled):
            _go_on(d)
            return True
    return False


def take_repeated_value(message: MessageInContext) -> bool:
    """Handle a reply to a confirmation that repeats a value instead of saying yes. If the agent asked whether a value
    from a partly understood message is right ("I have LN2093. Is that right?"), the repeated value is a yes. At any
    other confirmation, the agent asks again. Return False for any other reply."""
    d = message.d
    held = [name for name, _ in d.top.slots if name in d.domain.slots]
    same = [name for name in held if _is_bare_value(message, name) and _is_held(message, name)]
    if d.s.reading_back or d.top.denied or not same or message.signs.asks(message.tokens):
        return False
    if is_checking(d):
        say_yes(d, [])
        continue_flow(d)
    else:
        _go_on(d)
    return True


def _is_held(message: MessageInContext, name: str) -> bool:
    filled = message.d.top.filled(name)
    return filled is not None and _is_same_again(message, name, filled)


def _is_bare_value(message: MessageInContext, name: str) -> bool:
    """May the whole reply be a value of this slot and nothing else? False for texts, lists and yes/no slots, because
    their values can't be told from other words. Also False if the reply is too long."""
    kind = message.d.spec(name).kind
    return kind not in (SlotKind.TEXT, SlotKind.YES_NO, SlotKind.LIST) and len(message.tokens) <= _WORDS_MAX


def _go_on(d: DialogueDraft) -> None:
    d.enter(Phase.UNDERSTANDING)
    d.say(d.domain.patterns.assent)
    count_try(d)
    continue_flow(d)


def _is_same_again(message: MessageInContext, name: str, filled: Filled) -> bool:
    d, text = message.d, " ".join(message.text.split()).strip(" .,!?").casefold()
    if text in (filled.raw.casefold(), str(filled.value).casefold()):
        return True
    if d.spec(name).kind in (SlotKind.YES_NO, SlotKind.TEXT):
        return False
    reading = d.domain.pack.replies.read(Question(slot_to_correct(d.spec(name), None)), message.text, d.today)
    if isinstance(reading, Ambiguous):
        return d.spec(name).kind is not SlotKind.NAME and filled.value in reading.candidates
    return isinstance(reading, Direct) and reading.value_of(name) == filled.value


def _is_said_again(message: MessageInContext, name: str, filled: Filled) -> bool:
    """Does a clause repeat the value, and does the reply say that this is a repetition? True for "4 adults, I said that
    already"."""
    d, words = message.d, message.words
    if d.spec(name).kind in (SlotKind.YES_NO, SlotKind.TEXT) or not any(
        token.word in words.again for token in message.tokens
    ):
        return False
    for clause in clauses_of(words, message.tokens):
        asked = Question(slot_to_correct(d.spec(name), None))
        reading = d.domain.pack.replies.read(asked, text_of(message.text, message.tokens, clause), d.today)
        if isinstance(reading, Direct) and reading.value_of(name) == filled.value:
            return True
    return False


def _other_value(message: MessageInContext, name: str, filled: Filled) -> CorrectSlot | None:
    """The correction of the slot `name`, if the whole reply is another value for it; otherwise None. Always None for
    free text, for names that needn't be on a list and for yes/no slots, because almost any reply would be such a
    value."""
    d, spec = message.d, message.d.spec(name)
    is_any = spec.kind is SlotKind.NAME and spec.is_open
    if is_any or spec.kind in (SlotKind.TEXT, SlotKind.YES_NO, SlotKind.LIST) or not _is_last(d, filled):
        return None
    reading = d.domain.pack.replies.read(Question(slot_to_correct(spec, filled)), message.text, d.today)
    found = next((one for one in reading.values if one.slot == name), None) if isinstance(reading, Direct) else None
    if found is None or not _is_bare(message, found):
        return None
    return CorrectSlot(name, found.value, found.raw, found.span, "correction")


def _is_bare(message: MessageInContext, value: Value) -> bool:
    """Does the reply hold nothing but this value and polite words?"""
    around = message.words.polite | message.words.fillers | message.words.small
    inside = range(*value.span)
    return all(token.start in inside or token.word in around for token in message.tokens)


def _is_last(d: DialogueDraft, filled: Filled) -> bool:
    """Was this value given in the message before this one?"""
    return d.s.turn_count - filled.turn == 1
