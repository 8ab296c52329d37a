"""Replies to questions that are answered with yes or no."""

from __future__ import annotations

import pytest

from duologue.dialogue.english.reply_context import ReplyContext
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.english.yes_no_replies import has_nothing_to_add, read_yes_no
from duologue.dialogue.language.days import today_of
from duologue.dialogue.language.readings import Direct, Question, Slot, SlotKind, Unclear

SLOT = Slot("breakfast", SlotKind.YES_NO)


def context(text: str, reply: str) -> ReplyContext:
    return ReplyContext(Question(SLOT, text), reply, tokens_of(reply), today_of("2026-03-04"))


@pytest.mark.parametrize(
    ("reply", "value"), {"sure, why not": True, "I'd like that": True, "not yet": False, "no thanks": False}.items()
)
def test_a_plain_yes_or_no(reply: str, value: bool) -> None:
    reading = read_yes_no(context("Would you like breakfast?", reply))
    assert isinstance(reading, Direct)
    assert reading.value_of("breakfast") is value


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Would you like breakfast?", "how much is it?"),
        ("Would you like breakfast?", "yes, with porridge"),
        ("Do you mind a shared room?", "yes"),
        ("Did you pay?", "I will"),
    ],
)
def test_what_is_left_to_nlu(text: str, reply: str) -> None:
    assert isinstance(read_yes_no(context(text, reply)), Unclear)


def test_nothing_to_add() -> None:
    assert has_nothing_to_add(context("Anything else?", "no, that's all, thanks"))
    assert not has_nothing_to_add(context("Anything else?", "that's all for the garden"))
