"""Handles a longer reply that gives no value, because the user doesn't have it, doesn't know it, doesn't want to say
it, or has no preference.

Examples: "I don't have any e-mail, I'm eighty-four", "no clue, the clock's broken", "nah, not bothered, you choose". An
optional question is skipped. If the value is required, the agent says so, adds the slot's help text, and asks again.
Rule: one clause must say only that there is no value, and no other clause may contain a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .apply_commands import apply_commands
from .clauses import clauses_of, without_join
from .commands import BY_NAME, Skip
from .draft import DialogueDraft
from .interpreters import MessageInContext
from .language.readings import Confirmation, ConfirmationAnswer, SlotKind, Unclear
from .language.tokens import Token, words_of
from .prompts import count_try
from .run_flow import continue_flow
from .state import Phase

_AT_CONFIRMATION = ("cancel", "person")
_COMMANDS = ("cancel", "skip", "person", "restart", "repeat", "help")


def take_missing_value(message: MessageInContext) -> bool:
    """Handle a reply in which one clause says that there is no value, or that any value will do. Return False for any
    other reply."""
    d, slot = message.d, message.asked.slot
    if slot.kind in (SlotKind.YES_NO, SlotKind.LIST) or not isinstance(message.reading, Unclear):
        return False
    if slot.kind is SlotKind.TEXT and not slot.may_be_any:
        return False
    if d.s.among or d.s.reading_back or message.signs.asks(message.tokens) or _gives_value(message):
        return False
    if slot.kind is SlotKind.TEXT and not all(_lacks(message, part) for part in _parts(message)):
        return False  # "nothing really, well, a fish tank"
    if any(_says_any(message, part) or _says_none(message, part) for part in _parts(message)):
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (Skip(),))
        return True
    if not any(_lacks(message, part) for part in _parts(message)):
        return False
    d.enter(Phase.UNDERSTANDING)
    if d.spec(slot.name).is_optional:
        apply_commands(d, (Skip(),))
    else:
        _insist(d, slot.name)
    return True


def _insist(d: DialogueDraft, slot: str) -> None:
    """Say that the value is needed, with the slot's help if the user hasn't just heard it, and ask again."""
    d.say(d.domain.patterns.not_skippable)
    told = d.spec(slot).help
    if told and told not in d.s.last_response:
        d.say(told)
    count_try(d)
    continue_flow(d)


def take_command_in_clause(message: MessageInContext) -> bool:
    """Handle a command in one clause, if the other clauses only comment on it: "skip it, I never remember it". Return
    False for any other reply."""
    d, parts = message.d, _parts(message)
    found = [one for part in parts if (one := message.signs.command_of(part)) is not None]
    if d.s.reading_back or len(set(found)) != 1 or found[0] not in _COMMANDS:
        return False
    if d.s.waiting_for is None and (found[0] not in _AT_CONFIRMATION or _has_yes(message)):
        return False
    said = next(part for part in parts if message.signs.command_of(part) is not None)
    is_echo = d.s.waiting_for is None and message.signs.repeats(d.s.last_question, said)
    if is_echo or (d.s.waiting_for is not None and (_gives_value(message) or _gives_value_beside(message, parts))):
        return False
    if found[0] in ("cancel", "restart") and message.signs.asks(message.tokens):
        return False
    d.enter(Phase.UNDERSTANDING)
    apply_commands(d, (BY_NAME[found[0]],))
    return True


def _gives_value_beside(message: MessageInContext, parts: list[Sequence[Token]]) -> bool:
    """Does another clause than the command hold a value of the open slot? True for "never mind, we'll take the
    canoe"."""
    slot, read = message.asked.slot, message.d.domain.pack.replies.read_parts
    if slot.kind not in (SlotKind.CHOICE, SlotKind.NAME, SlotKind.DATE):
        return False
    texts = [message.text[part[0].start : part[-1].end] for part in parts if message.signs.command_of(part) is None]
    return any(read((slot,), text, message.d.today) for text in texts)


def _has_yes(message: MessageInContext) -> bool:
    """Does a clause of the reply to a confirmation say yes?"""
    read, d = message.d.domain.pack.replies.read_confirmation, message.d
    texts = [message.text[part[0].start : part[-1].end] for part in _parts(message)]
    yes = Confirmation(ConfirmationAnswer.YES)
    return any(read(d.s.last_question, text, d.today, ()) == yes for text in texts)


def _parts(message: MessageInContext) -> list[Sequence[Token]]:
    """The clauses, without words such as "but" at their beginning."""
    clauses = [without_join(message.words, message.tokens, one) for one in clauses_of(message.words, message.tokens)]
    return [message.tokens[one.start : one.stop] for one in clauses if one]


def _says_any(message: MessageInContext, part: Sequence[Token]) -> bool:
    return message.signs.has_no_preference(part, message.signs.echo_of(message.asked))


def _says_none(message: MessageInContext, part: Sequence[Token]) -> bool:
    """Is this clause a plain no to an optional question? True for "none, we bring our own"."""
    reading = message.d.domain.pack.replies.read(
        replace(message.asked, others=()), message.text[part[0].start : part[-1].end], message.d.today
    )
    return message.asked.proposed is None and reading == Confirmation(ConfirmationAnswer.NO)


def _lacks(message: MessageInContext, part: Sequence[Token]) -> bool:
    """Does this clause say that the user doesn't have or know the value? True for "I don't know the plate" and "no
    e-mail"."""
    lists, echo = message.words, message.signs.echo_of(message.asked)
    first = next((at for at, token in enumerate(part) if token.word not in lists.polite | lists.fillers), len(part))
    said = words_of(part[first:])
    phrase = next((one for one in lists.lacking if said[: len(one)] == one), ())
    rest = said[len(phrase) :] if phrase else said[1:]
    if not phrase and not (said and said[0] in lists.dissent and rest):
        return False
    return all(word in lists.common or lists.stem(word) in echo or word in lists.nothing for word in rest)


def _gives_value(message: MessageInContext) -> bool:
    """May the reply contain a value of the slot that was asked for?"""
    slot = message.asked.slot
    if slot.kind in (SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION, SlotKind.TIME):
        lists = message.words
        return any(lists.is_number(token.word) and token.word not in lists.which_ones for token in message.tokens)
    if slot.kind is SlotKind.TEXT:
        return False
    return bool(message.d.domain.pack.replies.read_parts((slot,), message.text, message.d.today))
