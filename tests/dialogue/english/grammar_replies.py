"""Short ways to ask and to read, for the tests of the grammars."""

from __future__ import annotations

from typing import Any

from duologue.dialogue.english import Ambiguous, Choice, Direct, NameList, Question, Slot, SlotKind, Unclear, read

WEDNESDAY = "2026-03-04"


def ask(kind: SlotKind, text: str = "", name: str = "it", **slot: Any) -> Question:
    """A question about one slot of this kind."""
    return Question(Slot(name, kind, **slot), text)


def one_of(*choices: str) -> Question:
    """A question with a few choices."""
    return Question(Slot("choice", SlotKind.CHOICE, choices=tuple(map(Choice, choices))))


def named(*names: str, **slot: Any) -> Question:
    """A question for one of these names."""
    return Question(Slot("place", SlotKind.NAME, names=NameList.of(names), **slot))


def said(question: Question, reply: str, today: str = WEDNESDAY) -> Any:
    """The value of a reply, a list of candidates, or None if the reply is for NLU."""
    reading = read(question, reply, today)
    if isinstance(reading, Direct):
        assert len(reading.values) == 1
        start, end = reading.values[0].span
        assert reading.values[0].raw == reply[start:end]
        return reading.values[0].value
    if isinstance(reading, Ambiguous):
        return list(reading.candidates)
    assert isinstance(reading, Unclear), reading
    return None
