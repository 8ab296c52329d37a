"""Interpreters: functions that try to understand a message, one after the other, in a fixed order that can be printed.

Each interpreter looks at the message and either handles it completely or leaves it to the next one. Rule: an
interpreter that doesn't handle a message changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from .commands import SetSlot
from .draft import DialogueDraft
from .flow import Collect
from .language.pack import LanguageWords, Signs
from .language.readings import Question, Reading, Slot, Value
from .language.tokens import Token
from .prompts import proposed
from .reference_day import slot_with_last_day

Context = TypeVar("Context", bound="MessageInContext", contravariant=True)


@dataclass(frozen=True, slots=True)
class Interpreter(Generic[Context]):
    """One function that tries to understand a message. `take` either handles the message and returns True, or changes
    nothing and returns False."""

    name: str
    about: str  # what it understands, in a few words
    take: Callable[[Context], bool]


class MessageInContext:
    """A message together with the question that it replies to. Results that several interpreters need are computed only
    when they are first used, and then kept."""

    def __init__(self, d: DialogueDraft, text: str) -> None:
        self.d = d
        self.text = text

    @property
    def signs(self) -> Signs:
        return self.d.domain.pack.signs

    @property
    def words(self) -> LanguageWords:
        return self.d.domain.pack.words

    @cached_property
    def tokens(self) -> Sequence[Token]:
        return self.words.tokens_of(self.text)

    @cached_property
    def asked(self) -> Question:
        return question_of(self.d)

    @cached_property
    def reading(self) -> Reading:
        """What the message means according to the grammar of the slot that was asked for."""
        return self.d.domain.pack.replies.read(self.asked, self.text, self.d.today)


def interpret(interpreters: Sequence[Interpreter[Context]], reply: Context) -> None:
    """Try the interpreters in their order until one of them handles the message. The trace records which interpreter
    handled it."""
    for one in interpreters:
        if one.take(reply):
            reply.d.note("interpreted", by=one.name)
            return


def question_of(d: DialogueDraft) -> Question:
    """The open question, with everything that helps to understand its answer."""
    slot = d.s.waiting_for
    assert slot is not None, d.s
    at = d.flow.program[d.top.at]
    offered = proposed(d, at) if isinstance(at, Collect) else None
    spec = d.spec(slot)
    return Question(
        spec.grammar_slot if d.s.among else slot_with_last_day(d.domain, d.top, spec),
        d.s.last_question,
        d.flow.description,
        offered,  # type: ignore[arg-type]
        d.s.among,
        tuple(other for other in empty_slots(d) if other.name != slot),
    )


def empty_slots(d: DialogueDraft) -> tuple[Slot, ...]:
    """The flow's unfilled slots that may be filled before the flow asks for them."""
    names = [name for name in d.flow.slots if d.top.filled(name) is None]
    return tuple(d.spec(name).grammar_slot for name in names if not d.spec(name).ask_before_filling)


def as_set_slots(values: tuple[Value, ...], source: str) -> tuple[SetSlot, ...]:
    return tuple(SetSlot(value.slot, value.value, value.raw, value.span, source) for value in values)
