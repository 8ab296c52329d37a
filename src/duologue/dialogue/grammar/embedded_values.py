"""Values in a message that isn't wholly understood.

Rule: no value is used from a message in which a word denies, changes or asks something. If the user mentions a day or
time that can't be used, its slot is reported, so that the agent can say that it will ask about this later.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.days import today_of
from ..language.greetings import without_greeting
from ..language.readings import Direct, Question, Slot, SlotKind, Value
from ..language.tokens import Token
from .explained_words import covered_by
from .find_values import find_values
from .lexicon import Lexicon
from .read_reply import read
from .several_slots import assign, values_of
from .tokens import tokens_of
from .yes_no import asks, asks_by_words


def read_parts(lexicon: Lexicon, slots: tuple[Slot, ...], message: str, today: str) -> tuple[Value, ...]:
    """The values in a message that are clear by themselves. Empty if a word denies, changes or asks something."""
    tokens = without_greeting(tokens_of(lexicon, message), lexicon.greetings, lexicon.openings)
    if not tokens or not slots or asks_by_words(lexicon, tokens) or _is_unsettled(lexicon, tokens):
        return ()
    assigned = assign(lexicon, tokens, slots, today_of(today))
    if assigned is None or any(len(match.candidates) != 1 for _, match in assigned[0].values()):
        return ()
    if any(slot.kind is SlotKind.MONEY for slot, _ in assigned[0].values()):
        left = [token.word for at, token in enumerate(tokens) if at not in assigned[1]]
        if any(word[0].isdigit() or lexicon.number_of_word(word) is not None for word in left):
            return ()  # "neunzig Euro für den Arzt und dreißig für die Tabletten"
    days = [match for slot, match in assigned[0].values() if slot.kind is SlotKind.DATE]
    covered = covered_by(days)
    if days and any(token.word in lexicon.months for at, token in enumerate(tokens) if at not in covered):
        return ()  # "im Juni, am liebsten am dritten": the month isn't part of the day that was found
    return values_of(message, tokens, assigned[0])


def unsettled_slots(lexicon: Lexicon, slots: tuple[Slot, ...], message: str, today: str) -> tuple[str, ...]:
    """The slots for days and times that the message mentions without giving a usable value."""
    tokens = without_greeting(tokens_of(lexicon, message), lexicon.greetings, lexicon.openings)
    if not tokens or asks_by_words(lexicon, tokens):
        return ()
    told = {value.slot for value in read_parts(lexicon, slots, message, today)}
    moments = [slot for slot in slots if slot.kind in (SlotKind.DATE, SlotKind.TIME) and not slot.is_past]
    return tuple(
        slot.name
        for slot in moments
        if slot.name not in told and find_values(lexicon, tokens, slot, today_of(today), is_asked=False).matches
    )


def _is_unsettled(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    unsettling = lexicon.markers | lexicon.negations | lexicon.dissent | lexicon.alternatives | lexicon.or_words
    return any(token.word in unsettling for token in tokens)


def read_first(lexicon: Lexicon, question: Question, message: str, today: str) -> Value | None:
    """The number at the beginning of a reply, if the words after a pause only explain the number. None otherwise."""
    tokens = tokens_of(lexicon, message)
    ends = next((at for at, token in enumerate(tokens) if at and token.pause), len(tokens))
    rest = tokens[ends:]
    if question.slot.kind not in (SlotKind.NUMBER, SlotKind.MONEY, SlotKind.TIME) or not rest or asks(lexicon, tokens):
        return None
    unsettling = lexicon.markers | lexicon.negations | lexicon.dissent | lexicon.alternatives | lexicon.doubts
    if any(token.word in unsettling or lexicon.number_of_word(token.word) is not None for token in rest):
        return None
    if any(token.word[0].isdigit() for token in rest):
        return None
    reading = read(lexicon, question, message[: tokens[ends - 1].end], today)
    values = reading.values if isinstance(reading, Direct) else ()
    return values[0] if len(values) == 1 and values[0].slot == question.slot.name else None


def is_all_values(lexicon: Lexicon, message: str, today: str) -> bool:
    """Does a message contain only days, times and amounts?"""
    tokens = tokens_of(lexicon, message)
    kinds = (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)
    covered: frozenset[int] = frozenset()
    for kind in kinds:
        found = find_values(lexicon, tokens, Slot("", kind), today_of(today), is_asked=True)
        covered |= covered_by(found.matches) | found.also
    if not covered or asks(lexicon, tokens):
        return False
    small = lexicon.polite | lexicon.fillers | lexicon.articles | lexicon.day_leads | lexicon.clock_leads
    return all(at in covered or token.word in small for at, token in enumerate(tokens))
