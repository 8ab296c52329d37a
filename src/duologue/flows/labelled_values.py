"""Finds values in the message that starts a task, if the message says what they are: "room 214", "my name is Ida
Brand", "guest card KL2093".

Rule: a number needs the slot's name right before it, a code has to match the slot's pattern, and a name has to be
introduced as a name. A value that fits two slots is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from duologue.dialogue.commands import SetSlot
from duologue.dialogue.flow import Domain
from duologue.dialogue.language.readings import Direct, Question, SlotKind
from duologue.dialogue.language.tokens import span_of, words_of
from duologue.dialogue.slot_names import names_of
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.dialogue.value_patterns import is_match

_NUMBER_WORDS_MAX = 6


def labelled_values(domain: Domain, flow: str, text: str, found: tuple[SetSlot, ...], today: str) -> Iterator[SetSlot]:
    """The values of this flow that the message names, beside those that were found already."""
    known = {value.slot for value in found}
    covered = {at for value in found for at in range(*value.span)}
    new = [
        value
        for value in (
            *_codes(domain, flow, text),
            *_numbers(domain, flow, text, today),
            *_names(domain, flow, text),
        )
        if value.slot not in known and not covered & set(range(*value.span))
    ]
    slots, spans = Counter(value.slot for value in new), Counter(value.span for value in new)
    yield from (value for value in new if slots[value.slot] == spans[value.span] == 1)


def _codes(domain: Domain, flow: str, text: str) -> Iterator[SetSlot]:
    tokens = domain.pack.words.tokens_of(text)
    for name in _slots(domain, flow, SlotKind.CODE):
        for match in domain.pack.replies.codes_in(tokens) if domain.slots[name].pattern else ():
            fitting = [code for code in match.candidates if is_match(domain.slots[name].pattern, str(code))]
            if len(fitting) == 1:
                start, end = span_of(tokens, match.first, match.after)
                yield SetSlot(name, fitting[0], text[start:end], (start, end), PICKED_OUT)


def _numbers(domain: Domain, flow: str, text: str, today: str) -> Iterator[SetSlot]:
    words = domain.pack.words
    tokens = words.tokens_of(text)
    said, wanted = words_of(tokens), set(_slots(domain, flow, SlotKind.NUMBER))
    taken: set[int] = set()
    for called, name in names_of(domain, flow):
        label = tuple(called.split())
        for at in range(len(said) - len(label)):
            begins = at + len(label)
            if name not in wanted or begins in taken or said[at:begins] != label or not words.is_number(said[begins]):
                continue
            ends = begins + 1
            while ends < min(len(said), begins + _NUMBER_WORDS_MAX) and words.is_number(said[ends]):
                if tokens[ends].pause:
                    break
                ends += 1
            start, end = span_of(tokens, begins, ends)
            asked = Question(domain.slots[name].grammar_slot, domain.slots[name].display_name)
            reading = domain.pack.replies.read(asked, text[start:end], today)
            if isinstance(reading, Direct):
                taken.add(begins)
                yield SetSlot(name, reading.values[0].value, text[start:end], (start, end), PICKED_OUT)


def _names(domain: Domain, flow: str, text: str) -> Iterator[SetSlot]:
    tokens = domain.pack.words.tokens_of(text)
    names = [name for name in _slots(domain, flow, SlotKind.NAME) if domain.slots[name].is_open]
    is_named = len(names) == 1 and any(token.word.startswith(("name", "nombre")) for token in tokens)
    span = domain.pack.replies.name_in_sentence(tokens) if is_named else None
    if span is not None:
        start, end = span_of(tokens, *span)
        yield SetSlot(names[0], text[start:end], text[start:end], (start, end), PICKED_OUT)


def _slots(domain: Domain, flow: str, kind: SlotKind) -> list[str]:
    names = (name for name in dict.fromkeys(domain.flows[flow].slots) if name in domain.slots)
    return [name for name in names if domain.slots[name].kind is kind and not domain.slots[name].ask_before_filling]
