"""Reads the reply to a confirmation: yes, no, or a change.

Rule: for a yes or a no, every word must be understood. A reply that asks or doubts something goes to NLU.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.days import today_of
from ..language.match import Match
from ..language.readings import (
    Confirmation,
    ConfirmationAnswer,
    Polarity,
    Reading,
    Slot,
    SlotKind,
    SpokenCommand,
    Value,
    Why,
)
from ..language.tokens import Token, words_of
from .explained_words import covered_by, leftover, unclear, unread
from .find_values import find_values
from .lexicon import Lexicon
from .several_slots import assign, values_of
from .signs import command_of, echo_of_texts, has_no_preference, repeats
from .tokens import stems_of, tokens_of
from .yes_no import asks, is_plain_yes, phrase_places, places_outside_yes_no, polarity, postpones

_TYPED = tuple(Slot("", kind) for kind in (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER))


def read_confirmation(lexicon: Lexicon, text: str, reply: str, today: str, slots: tuple[Slot, ...] = ()) -> Reading:
    """What the reply to a confirmation means. `text` is the question that was asked. `slots` are the slots whose values
    the user may change."""
    tokens = tokens_of(lexicon, reply)
    if not tokens:
        return unread(reply)
    if (command := command_of(lexicon, tokens)) is not None:
        if repeats(lexicon, text, tokens):
            return unclear(Why.SEVERAL)
        return Confirmation(ConfirmationAnswer.NO) if command == "cancel" else SpokenCommand(command)
    if asks(lexicon, tokens):
        return unclear(Why.QUESTION)
    if postpones(lexicon, tokens):
        return unclear(Why.NO_VALUE)
    values = new_values(lexicon, tokens, today, text)
    covered = covered_by(values)
    echo = stems_of(lexicon, text)
    left = [at for at in places_outside_yes_no(lexicon, tokens) if at not in covered]
    content = [at for at in left if tokens[at].word not in lexicon.changes | lexicon.wrong]
    leaning = polarity(lexicon, tokens)
    changes = any(token.word in lexicon.changes for token in tokens)
    if leaning is Polarity.NO and has_no_preference(lexicon, tokens, frozenset()):
        return unclear(Why.NO_VALUE)
    if leaning is Polarity.UNSURE:
        return unclear(Why.LEFTOVER, tokens, content)
    if leaning is Polarity.YES:
        phrases = phrase_places(lexicon, tokens)
        turns = any(token.word in lexicon.markers for at, token in enumerate(tokens) if at not in phrases)
        if values or changes or turns:
            return unclear(Why.SEVERAL if values else Why.MARKER, tokens, content)
        plain = is_plain_yes(lexicon, tokens)
        left = [at for at in left if not (plain and lexicon.stem(tokens[at].word) in echo)]
        return unclear(Why.LEFTOVER, tokens, left) if left else Confirmation(ConfirmationAnswer.YES)
    if leaning in (Polarity.NO, Polarity.BOTH) or changes or values or _is_wrong(lexicon, tokens):
        if not values and not content and (leaning is Polarity.NO or _is_wrong(lexicon, tokens)):
            return Confirmation(ConfirmationAnswer.NO)
        if values or content or changes:
            return Confirmation(ConfirmationAnswer.CHANGE, _changed(lexicon, text, reply, tokens, slots, today))
        return unclear(Why.NO_VALUE)
    return unclear(Why.LEFTOVER, tokens, content)


def _is_wrong(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    return any(token.word in lexicon.wrong for token in tokens)


def new_values(lexicon: Lexicon, tokens: Sequence[Token], today: str, text: str) -> list[Match]:
    """The dates, times and numbers in a reply that the question didn't mention."""
    asked = set(words_of(tokens_of(lexicon, text)))
    return [
        match
        for slot in _TYPED
        for match in find_values(lexicon, tokens, slot, today_of(today), is_asked=slot.kind is SlotKind.NUMBER).matches
        if not all(token.word in asked for token in tokens[match.first : match.after])
    ]


def _changed(
    lexicon: Lexicon, text: str, reply: str, tokens: Sequence[Token], slots: tuple[Slot, ...], today: str
) -> tuple[Value, ...]:
    """The new values in a reply. Empty if some word isn't understood."""
    assigned = assign(lexicon, tokens, slots, today_of(today))
    if assigned is None or not assigned[0] or any(len(match.candidates) != 1 for _, match in assigned[0].values()):
        return ()
    filled, covered = assigned
    if any(token.word in lexicon.negations - lexicon.dissent for at, token in enumerate(tokens) if at not in covered):
        return ()
    left = leftover(lexicon, tokens, covered, echo_of_texts(lexicon, text))
    if any(tokens[at].word not in lexicon.changes | lexicon.wrong | lexicon.dissent for at in left):
        return ()
    return values_of(reply, tokens, filled)


def plain_answer(
    lexicon: Lexicon, text: str, reply: str, today: str, slots: tuple[Slot, ...] = ()
) -> ConfirmationAnswer | None:
    """The yes or no that a reply says explicitly, even if other words of the reply aren't understood. None if it says
    neither."""
    tokens = tokens_of(lexicon, reply)
    if not tokens or asks(lexicon, tokens) or new_values(lexicon, tokens, today, text):
        return None
    words = words_of(tokens)
    listed = [slot for slot in slots if slot.kind in (SlotKind.CHOICE, SlotKind.NAME)]
    asked = set(words_of(tokens_of(lexicon, text)))
    for slot in listed:
        for match in find_values(lexicon, tokens, slot, today_of(today), is_asked=False).matches:
            if not all(word in asked for word in words[match.first : match.after]):
                return None
    leaning = polarity(lexicon, tokens)
    if leaning is Polarity.YES:
        is_turned = any(word in lexicon.markers for word in words) or not is_plain_yes(lexicon, tokens)
        return None if is_turned else ConfirmationAnswer.YES
    is_no = leaning is Polarity.NO or (leaning is None and _is_wrong(lexicon, tokens))
    return ConfirmationAnswer.NO if is_no else None


def says_yes_then_asks(lexicon: Lexicon, text: str, reply: str, today: str) -> bool:
    """Is the reply a whole yes and then a question about something else?"""
    tokens = tokens_of(lexicon, reply)
    weighing = lexicon.markers | lexicon.doubts | lexicon.negations | lexicon.assent | lexicon.dissent
    for place in range(1, len(tokens)):
        rest = tokens[place:]
        if not rest[0].pause or any(
            token.word in weighing or lexicon.stem(token.word) in lexicon.praise for token in rest
        ):
            continue
        if asks(lexicon, rest) and not new_values(lexicon, rest, today, text):
            first = read_confirmation(lexicon, text, reply[: tokens[place - 1].end], today)
            return first == Confirmation(ConfirmationAnswer.YES)
    return False
