"""Replies to questions that are answered with yes or no."""

from __future__ import annotations

import pytest

from duologue.dialogue.english.reply_context import ReplyContext
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.english.yes_no_replies import has_nothing_to_add, read_yes_no
from duologue.dialogue.language.days import today_of
from duologue.dialogue.language.readings import Direct, Question, Slot, SlotKind, Unclear
from tests.dialogue.english.grammar_replies import ask, said

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


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply", ["no hurry", "nah, not worth the trouble", "we'll use our own", "I've got my own, thanks"]
)
def test_an_offer_is_declined_in_other_words(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Would you like a blanket?"), reply) is False


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Can it wait until Monday?", "no hurry"),  # this may be a yes
        ("Would you like a blanket?", "I don't have my own"),
        ("Would you like a blanket?", "yes, my own is wet"),
        ("Is it your own?", "I brought my own"),
    ],
)
def test_the_same_words_may_decline_nothing(question: str, reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, question), reply) is not False


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["oh go on then", "we might as well", "better safe than sorry"])
def test_an_offer_is_accepted_in_other_words(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Would you like a blanket?"), reply) is True
