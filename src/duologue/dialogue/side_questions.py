"""Handles two kinds of replies in the middle of a task: a question from the user that the agent can answer immediately,
and an answer that is followed by a question.

"What was the day again?" is answered from the slots, "which ones are there?" from the choices, "why do you need that?"
from the help of the open question, and other questions from the FAQ. Then the agent asks the open question again. Rule:
a question never fills a slot, and a question that can't be answered in this way is left to NLU.
"""

from __future__ import annotations

from collections.abc import Sequence

from .commands import SetSlot
from .draft import DialogueDraft
from .faq_words import answer_by_words
from .interpreters import MessageInContext
from .language.readings import Choice, Direct, Question, SlotKind
from .language.stop_phrases import after_stop
from .language.tokens import Token, words_of
from .prompts import is_question_current
from .run_flow import continue_flow
from .slot_names import names_of
from .state import Phase, values_of
from .templates import either
from .unconfirmed_values import PICKED_OUT
from .values import validate_next


def take_side_question(reply: MessageInContext) -> bool:
    """Handle a question that the agent can answer at once, or an answer that is followed by a question. Return False
    for any other reply."""
    d = reply.d
    if d.s.reading_back or not reply.signs.asks(reply.tokens):
        return False
    words = _answer_to(d, reply.tokens)
    if words:
        d.enter(Phase.UNDERSTANDING)
        d.say(words)
        d.set(misses=0, silences=0)
        continue_flow(d)
        return True
    return _take_answer_before_question(reply)


def _answer_to(d: DialogueDraft, tokens: Sequence[Token]) -> str:
    """The answer to the user's question; empty if the agent can't answer it here."""
    lists = d.domain.pack.words
    begins = after_stop(words_of(tokens), lists.stopping, lists.before_questions)
    rest = tokens[begins:]
    opening = next((place for place, token in enumerate(rest) if token.word not in lists.before_questions), 0)
    said = [token.word for token in rest[opening:]]
    slot = d.s.waiting_for
    choices = _choices_of(d, slot) if slot is not None else ()
    if choices and said[0] in lists.asks_which and set(said) <= lists.which_ones:
        offered = either([choice.value for choice in choices], d.domain.pack.spoken)
        return d.domain.patterns.choices.replace("{slots}", offered)
    if slot is not None and said[0] in lists.why and set(said) <= lists.asks_why:
        return d.spec(slot).help or d.domain.patterns.why.replace("{slot}", d.spec(slot).display_name)
    if words := _value_asked_for(d, said):
        return words
    entry = answer_by_words(d.domain.faq, " ".join(said), d.domain.faq_min, d.domain.language)
    return d.domain.faq[entry].answer if entry is not None else ""


def _choices_of(d: DialogueDraft, slot: str) -> tuple[Choice, ...]:
    """The choices of a slot. If the slot is a list, its items have their own slots; the result is then the choices of
    the first of these slots that has choices."""
    spec = d.spec(slot)
    return spec.choices or next((d.spec(name).choices for name in spec.items if d.spec(name).choices), ())


def _value_asked_for(d: DialogueDraft, said: list[str]) -> str:
    """The answer to "what was the day again?": the value, or a text saying that the user hasn't given it yet. Empty if
    the user doesn't ask to hear a value again."""
    lists = d.domain.pack.words
    if said[0] not in lists.asks_for_value or not lists.again & set(said):
        return ""
    text = f" {' '.join(said)} "
    values, held = values_of(d.top.slots), dict(d.top.slots)
    for called, name in names_of(d.domain, d.top.flow):
        called = lists.fold(called)
        if f" {called} " in text and name not in values:
            return d.domain.patterns.not_given.replace("{slot}", d.spec(name).display_name)
        if f" {called} " in text:
            value = d.spoken(d.shown(name, held[name]))
            words = d.domain.patterns.recalled.replace("{slot}", d.spec(name).display_name)
            return words.replace("{value}", value)
    return ""


def _take_answer_before_question(reply: MessageInContext) -> bool:
    """Handle "the credit one, and how long will it take?". Answer the question, or say that it can't be answered here,
    and use the first part as the value. The agent announces this value, because the message was only partly understood.
    Return False for any other reply."""
    d, tokens = reply.d, reply.tokens
    if d.s.waiting_for is None or not is_question_current(d):
        return False
    begins = next(
        (place for place in range(1, len(tokens)) if tokens[place].pause and reply.signs.asks(tokens[place:])), None
    )
    if begins is None or reply.asked.slot.kind in (SlotKind.TEXT, SlotKind.YES_NO):
        return False
    first = reply.text[: tokens[begins - 1].end]
    if reply.signs.asks(reply.words.tokens_of(first)):
        return False
    asked = Question(reply.asked.slot, reply.asked.text, reply.asked.about, reply.asked.proposed)
    reading = d.domain.pack.replies.read(asked, first, d.today)
    if not isinstance(reading, Direct) or [value.slot for value in reading.values] != [reply.asked.slot.name]:
        return False
    value = reading.values[0]
    d.say(_answer_to(d, tokens[begins:]) or d.domain.patterns.cannot_answer)
    d.set(values=(SetSlot(value.slot, value.value, value.raw, value.span, PICKED_OUT),), among=())
    validate_next(d)
    return True
