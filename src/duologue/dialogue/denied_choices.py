"""Handles "no french please", if the agent asked for a choice: the user refuses French, or says no to something else
and wants French.

STT often leaves out the comma that would tell. Rule: such a reply neither fills nor skips the slot; the agent asks
whether the choice is meant.
"""

from __future__ import annotations

from .interpreters import MessageInContext
from .language.readings import Direct, SlotKind
from .preferred_values import ask_which_of
from .state import Phase


def take_denied_choice(message: MessageInContext) -> bool:
    """Ask whether the choice is meant, if the reply is only a "no" and a choice without a pause between them. Return
    False for any other reply."""
    d, words, asked = message.d, message.words, message.asked
    is_listed = asked.slot.kind is SlotKind.CHOICE or (asked.slot.kind is SlotKind.NAME and not asked.slot.is_open)
    said = [token for token in message.tokens if token.word not in words.fillers | words.polite]
    if not is_listed or d.s.among or asked.proposed is not None or isinstance(message.reading, Direct):
        return False
    if len(said) < 2 or said[0].word not in words.dissent or said[1].pause or message.signs.asks(message.tokens):
        return False
    if not words.is_negation(said[0].word) or any(words.is_negation(token.word) for token in said[1:]):
        return False
    rest = message.text[said[1].start :]
    reading = d.domain.pack.replies.read(asked, rest, d.today)
    value = reading.value_of(asked.slot.name) if isinstance(reading, Direct) and len(reading.values) == 1 else None
    if not isinstance(value, str) or value not in _values_of(message):
        return False
    d.enter(Phase.UNDERSTANDING)
    ask_which_of(d, (value,))
    return True


def _values_of(message: MessageInContext) -> frozenset[str]:
    slot = message.asked.slot
    names = message.d.spec(slot.name).names
    return frozenset(
        (*(choice.value for choice in slot.choices), *(names.values.values() if names is not None else ()))
    )
