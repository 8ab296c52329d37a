"""Replies that leave the choice to the agent."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import ANY, Choice, Question, Slot, SlotKind
from duologue.dialogue.english.no_preference import has_no_preference
from duologue.dialogue.english.tokens import tokens_of
from tests.dialogue.english.grammar_replies import ask, one_of, said


@pytest.mark.parametrize(
    "reply",
    ["I don't mind", "whatever", "any is fine", "it doesn't matter to me", "no preference", "you choose", "anything"],
)
def test_any_will_do_where_that_is_an_answer(reply: str) -> None:
    seat = Slot("seat", SlotKind.CHOICE, choices=(Choice("Aisle"), Choice("Window")), may_be_any=True)
    assert said(Question(seat), reply) == ANY
    assert said(one_of("Aisle", "Window"), reply) is None


@pytest.mark.parametrize("reply", ["whoever is free", "whoever", "oh, whoever's available"])
def test_whoever_is_free_means_no_preference(reply: str) -> None:
    assert said(ask(SlotKind.NAME, "With whom?", may_be_any=True), reply) == ANY


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["i don't mind when", "I don't care what time", "it doesn't matter which one"])
def test_the_word_that_asks_may_follow_a_phrase_for_no_preference(text: str) -> None:
    assert has_no_preference(tokens_of(text), frozenset())


@pytest.mark.parametrize("text", ["I don't mind, when is it", "I don't mind what he says"])
def test_a_question_or_another_matter_is_no_preference_about_nothing(text: str) -> None:
    assert not has_no_preference(tokens_of(text), frozenset())
