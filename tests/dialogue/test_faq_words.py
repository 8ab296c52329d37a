"""Answers from the FAQ by words alone, beside a question and as a step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.commands import AnswerQuestion
from duologue.dialogue.english import SlotKind
from duologue.dialogue.faq_words import answer_by_words
from duologue.dialogue.flow import AnswerFromFaq, Collect, Domain, FaqEntry, SayText, SlotSpec
from duologue.lab.check.dialogue.domains import SIZE, domain, flow
from tests.dialogue.dialogue_flows import Talker

FAQ = (
    FaqEntry(("When are you open?", "What are your opening hours?"), "From nine to five."),
    FaqEntry(("Do you have vegan pizza?",), "Yes, one."),
    FaqEntry(("Do you have vegan cakes?",), "No."),
)
NOTE = SlotSpec("note", SlotKind.TEXT, "What would you like to know?")


def desk() -> Domain:
    asking = flow("ask", Collect("note", "note"), AnswerFromFaq("find", "note", on_none=3), SayText("bye", "Bye."))
    none = replace(asking, program=(*asking.program[:-1], SayText("none", "Hm."), asking.program[-1]))
    buying = flow("buy", Collect("size", "size"))
    return replace(domain(none, buying, slots=(NOTE, SIZE)), faq=FAQ)


@pytest.mark.req("D-08")
def test_an_answer_needs_most_of_the_words() -> None:
    assert answer_by_words(FAQ, "so when are you open?") == 0
    assert answer_by_words(FAQ, "your opening hours please") == 0
    assert answer_by_words(FAQ, "is there a place to park nearby?") is None
    assert answer_by_words(FAQ, "do you have vegan") is None  # two answers are as good
    assert answer_by_words((), "when are you open?") is None


@pytest.mark.req("D-08")
def test_a_question_in_the_middle_is_answered_and_the_open_question_returns() -> None:
    talker = Talker(desk()).starts("buy").says("when are you open?")
    assert talker.said == "From nine to five. Which size?"
    talker = Talker(desk()).starts("buy").says("the large one, and when are you open?")
    assert talker.said == "From nine to five."
    assert talker.slots["size"] == "large"


def test_a_question_is_answered_while_nothing_is_open() -> None:
    talker = Talker(desk()).says("when are you open?")
    assert (talker.said, talker.phase) == ("From nine to five.", "idle")


def test_a_step_answers_by_words_or_asks_nlu() -> None:
    talker = Talker(desk()).starts("ask").says("when are you open?")
    assert talker.said == "From nine to five. Bye. Hm."
    talker = Talker(desk()).starts("ask").says("is it too late to come at six?")
    assert talker.asked_nlu
    assert talker.means(AnswerQuestion(0)).said == "From nine to five. Bye. Hm."


def test_what_nlu_takes_for_a_question_fills_the_slot_that_is_looked_up() -> None:
    talker = Talker(desk()).starts("ask").says("until what time can I come").means(AnswerQuestion(0))
    assert talker.slots["note"] == "until what time can I come"
    assert talker.means(AnswerQuestion(0)).said == "From nine to five. Bye. Hm."


def test_without_an_answer_the_flow_goes_on_where_it_says() -> None:
    talker = Talker(desk()).starts("ask").says("is there a place to park?")
    assert talker.means().said == "Hm."
    plain = replace(desk(), flows={"ask": flow("ask", Collect("note", "note"), AnswerFromFaq("find", "note"))})
    talker = Talker(plain).starts("ask").says("is there a place to park?").means(AnswerQuestion(99))
    assert talker.said == "I'm sorry, I don't know the answer to that."


def test_a_search_that_fails_can_be_repeated() -> None:
    talker = Talker(desk()).starts("ask").says("is there a place to park?").fails()
    assert talker.phase == "error"
    assert talker.says("retry").asked_nlu


@pytest.mark.parametrize(
    ("language", "asked", "said", "other"),
    [
        ("de", "Haben Sie Parkplätze?", "Können Sie mir sagen, ob es bei Ihnen Parkplätze gibt?", "Haben Sie Hunger?"),
        ("es", "¿Dónde puedo aparcar?", "Perdone, ¿me puede decir dónde aparcar?", "¿Dónde está el médico?"),
    ],
)
def test_the_words_around_a_topic_are_those_of_the_language(language: str, asked: str, said: str, other: str) -> None:
    faq = (FaqEntry((asked,), "X"),)
    assert answer_by_words(faq, said, language=language) == 0
    assert answer_by_words(faq, other, language=language) is None
    assert answer_by_words(faq, said) is None  # the words of English tell nothing here
