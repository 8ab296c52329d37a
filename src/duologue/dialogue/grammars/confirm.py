"""Reads the reply to a confirmation: yes, no, or a change.

"Yes" and "no" need every word explained, as everywhere. A change needs less: a denial or a word of change, and
something else that was said; what exactly, NLU may read, unless the new values are wholly understood. Rule: a
reply that asks something is for NLU, whatever it begins with.
"""

from __future__ import annotations

from collections.abc import Sequence

from .calendar import day_of
from .carriers import ASSENT, DISSENT, is_negation
from .commands import command_of
from .find import find
from .gate import covered_by, echo_of_texts, leftover, unclear, unread
from .match import Match
from .numbers import is_thing
from .questions import asks, wants_to_know
from .reading import Answer, Command, Confirmation, Kind, Reading, Slot, Value, Why
from .several import assign, values_of
from .tokens import Token, tokens_of
from .yesno import Polarity, not_polar, polarity

_TYPED = tuple(Slot("", kind) for kind in (Kind.DATE, Kind.TIME, Kind.NUMBER))
_CHANGES = frozenset(
    """actually instead change changed changing wait sorry wrong mistake meant different another switch swap
    replace update modify rather incorrect""".split()
)
_NOT_CONTENT = _CHANGES | frozenset("mind thought second again hold moment minute no not right correct".split())


def read_confirmation(text: str, reply: str, today: str, slots: tuple[Slot, ...] = ()) -> Reading:
    """What the reply to a confirmation means; `text` is what was to be confirmed, `slots` what may be changed."""
    tokens = tokens_of(reply)
    if not tokens:
        return unread(reply)
    if (command := command_of(tokens)) is not None:
        return Confirmation(Answer.NO) if command == "cancel" else Command(command)
    if asks(tokens) or wants_to_know(tokens):
        return unclear(Why.QUESTION)
    values = new_values(tokens, day_of(today), text)
    covered = covered_by(values)
    left = [place for place in not_polar(tokens) if place not in covered]
    content = [place for place in left if tokens[place].low not in _NOT_CONTENT]
    leaning = polarity(tokens)
    assents = any(token.low in ASSENT for token in tokens[:3])
    changes = any(token.low in _CHANGES for token in tokens)
    if leaning is Polarity.YES and not values and not changes:
        return unclear(Why.LEFTOVER, tokens, left) if left else Confirmation(Answer.YES)
    if leaning is Polarity.UNSURE or (assents and not (values and changes)):
        return unclear(Why.SEVERAL if values else Why.LEFTOVER, tokens, content)
    if leaning in (Polarity.NO, Polarity.BOTH) or changes:
        if values or content:
            return Confirmation(Answer.CHANGE, changed(reply, tokens, slots, day_of(today), echo_of_texts(text)))
        return Confirmation(Answer.NO) if leaning is Polarity.NO else unclear(Why.NO_VALUE)
    if not values or leaning is not None:
        return unclear(Why.LEFTOVER, tokens, content)
    return Confirmation(Answer.CHANGE, changed(reply, tokens, slots, day_of(today), echo_of_texts(text)))


def new_values(tokens: Sequence[Token], today: int, text: str) -> list[Match]:
    """Dates, times and numbers that the question didn't have."""
    asked = {token.low for token in tokens_of(text)}
    found: list[Match] = []
    for slot in _TYPED:
        for match in find(tokens, slot, today, is_asked=False):
            words = [token.low for token in tokens[match.first : match.after]]
            if not all(word in asked for word in words) and not is_thing(tokens, match.first):
                found.append(match)
    return found


def changed(
    reply: str, tokens: Sequence[Token], slots: tuple[Slot, ...], today: int, echo: frozenset[str]
) -> tuple[Value, ...]:
    """The new values, if they explain every word beside those of a change; else none."""
    filled = assign(tokens, slots, today)
    if not filled or any(len(match.candidates) > 1 for _, match in filled.values()):
        return ()
    if any(is_negation(token.low) and token.low not in DISSENT for token in tokens):
        return ()
    covered = covered_by(match for _, match in filled.values())
    left = leftover(tokens, covered, echo)
    if any(tokens[place].low not in _NOT_CONTENT for place in left):
        return ()
    return values_of(reply, tokens, filled)
