"""Handles a reply that describes a choice instead of naming it: "the rowing one", "the one for backs", "the thirty
pound one".

The descriptions are the choice's own words, and the clauses of the question and of the slot's help that name only this
choice. Rule: a word counts only if it describes exactly one choice. A word of the choice's own name is enough to take
it; after other words, the agent asks whether this choice is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from .clauses import clauses_of
from .commands import SetSlot
from .interpreters import MessageInContext
from .language.readings import Direct, Question, Slot, SlotKind, Unclear
from .preferred_values import ask_which_of
from .state import Phase
from .unconfirmed_values import PICKED_OUT
from .values import validate_next

_CHOICES_MAX = 12
_STEM_CHARS_MIN = 3
_OTHER_WORDS_MAX = 1  # beside a word of the choice's name, a reply may have this many words that aren't known
_COUNT = Slot("count", SlotKind.NUMBER)


def take_described_choice(message: MessageInContext) -> bool:
    """Take the choice that the reply describes, or ask whether it is meant. Return False for any other reply."""
    d, slot = message.d, message.asked.slot
    names = _names_of(message)
    if not 1 < len(names) <= _CHOICES_MAX or not isinstance(message.reading, Unclear) or d.s.reading_back:
        return False
    if message.signs.asks(message.tokens) or any(message.words.is_negation(token.word) for token in message.tokens):
        return False
    if d.domain.pack.replies.read_parts((slot,), message.text, d.today):
        return False  # the reply names a choice
    said = set(_content(message, message.text))
    own = {value: _only(value, {one: _stems(message, words) for one, words in names.items()}) for value in names}
    told = {value: _only(value, _descriptions(message, names)) for value in names}
    named = [value for value in names if said & own[value]]
    described = [value for value in names if said & (own[value] | told[value])]
    if len(described) != 1:
        return False
    d.enter(Phase.UNDERSTANDING)
    others = said - own[described[0]] - message.signs.echo_of(message.asked)
    if named == described and len(others) <= _OTHER_WORDS_MAX:
        value = SetSlot(slot.name, named[0], message.text, (0, len(message.text)), PICKED_OUT)
        d.set(values=(value,), among=())
        validate_next(d)
    else:
        ask_which_of(d, (described[0],))
    return True


def _names_of(message: MessageInContext) -> dict[str, tuple[str, ...]]:
    """The choices, each with all of its names. Empty if the slot has none."""
    slot = message.asked.slot
    if slot.kind is SlotKind.CHOICE:
        return {choice.value: (choice.value, *choice.also) for choice in slot.choices}
    if slot.kind is SlotKind.NAME and slot.names is not None and not slot.is_open:
        return {value: (value,) for value in dict.fromkeys(slot.names.values.values())}
    return {}


def _only(value: str, words: dict[str, frozenset[str]]) -> frozenset[str]:
    """The words in the names of this choice that no other choice has."""
    return words[value].difference(*(other for one, other in words.items() if one != value))


def _stems(message: MessageInContext, texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _content(message, text))


def _descriptions(message: MessageInContext, names: dict[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """The words of the clauses that name exactly one choice."""
    found: dict[str, set[str]] = {value: set() for value in names}
    keys = {value: [message.words.stems_of(name) for name in called] for value, called in names.items()}
    for text in (message.d.spec(message.asked.slot.name).help, message.d.s.last_question):
        for clause in _clauses(message, text):
            stems = message.words.stems_of(clause)
            about = [value for value, ways in keys.items() if any(way and way <= stems for way in ways)]
            if len(about) == 1:
                found[about[0]] |= set(_content(message, clause))
    return {value: frozenset(words) for value, words in found.items()}


def _clauses(message: MessageInContext, text: str) -> Iterator[str]:
    words = message.words
    tokens = words.tokens_of(text)
    for clause in clauses_of(words, tokens):
        starts = [at for at in clause if at == clause.start or tokens[at].word in words.ors]
        for start, stop in zip(starts, (*starts[1:], clause.stop), strict=True):
            yield text[tokens[start].start : tokens[stop - 1].end]


def _content(message: MessageInContext, text: str) -> Iterator[str]:
    """The stems of the words that mean something; numbers as digits."""
    words = message.words
    around = words.common | words.polite | words.fillers | words.small | words.which_ones
    for token in words.tokens_of(text):
        if token.word in around:
            continue
        if words.is_number(token.word):
            reading = message.d.domain.pack.replies.read(Question(_COUNT), token.text, message.d.today)
            yield str(reading.values[0].value) if isinstance(reading, Direct) else token.word
        elif len(words.stem(token.word)) >= _STEM_CHARS_MIN:
            yield words.stem(token.word)
