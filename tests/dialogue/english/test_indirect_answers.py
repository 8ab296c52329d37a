"""Yes and no in other words, and replies that are neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.dialogue.english.indirect_answers import is_about_the_line, is_only_hoped, refuses, where, where_agreeing
from duologue.dialogue.english.read_confirmation import read_confirmation
from duologue.dialogue.language.readings import Confirmation, ConfirmationAnswer, Slot, SlotKind

TODAY = "2026-03-04"
QUESTION = "A table for four at Luigi's on Friday at seven. Is that right?"
SLOTS = (Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME), Slot("people", SlotKind.NUMBER))
WRITTEN = [
    tuple(line.split(" | "))
    for line in (Path(__file__).parent / "confirmations.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def answer_to(reply: str) -> str:
    reading = read_confirmation(QUESTION, reply, TODAY, SLOTS)
    return reading.answer if isinstance(reading, Confirmation) else "unclear"


@pytest.mark.parametrize(("kind", "reply"), WRITTEN)
def test_no_reply_is_taken_for_its_opposite(kind: str, reply: str) -> None:
    answer = answer_to(reply)
    if kind == "yes":
        assert answer != ConfirmationAnswer.NO
    elif kind == "no":
        assert answer != ConfirmationAnswer.YES
    else:
        assert answer not in (ConfirmationAnswer.YES, ConfirmationAnswer.NO)


def test_most_of_them_need_no_model() -> None:
    yes = [answer_to(reply) == ConfirmationAnswer.YES for kind, reply in WRITTEN if kind == "yes"]
    no = [answer_to(reply) in ("no", "change") for kind, reply in WRITTEN if kind == "no"]
    assert sum(yes) / len(yes) > 0.85
    assert sum(no) / len(no) > 0.85


def test_a_denied_fault_agrees() -> None:
    assert where_agreeing("i don't see anything wrong with that".split()) == range(1, 5)
    assert where_agreeing("i couldn't have said it better".split()) == range(1, 6)
    assert where_agreeing("i don't want that".split()) is None


def test_a_change_of_mind_refuses() -> None:
    assert refuses("i've changed my mind".split())
    assert refuses("there's a mistake in there".split())
    assert not refuses("there's no mistake".split())


def test_hopes_and_the_line_are_no_answers() -> None:
    assert is_only_hoped("i hope that's right".split())
    assert not is_only_hoped("that would be great".split())
    assert is_about_the_line("can you hear me all right".split())
    assert not is_about_the_line("glad to hear it".split())
    assert where("a b c".split(), (("b", "c"),)) == range(1, 3)
