"""Every word of a plain answer is accounted for; anything else goes to NLU with a reason."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Question, SlotKind, Unclear, Why, read
from duologue.dialogue.english.explained_words import is_slip
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, named, said

TIME = ask(SlotKind.TIME, "What time shall I book the court for?", "court_time")


def why(question: Question, reply: str) -> Why:
    reading = read(question, reply, WEDNESDAY)
    assert isinstance(reading, Unclear), reading
    return reading.why


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "reply",
    [
        "8 pm",
        "please book it for 8 pm",
        "I was thinking about 8 pm maybe",
        "could you reserve the court for 8 pm?",
        "How about 8 pm?",
        "8 pm would be wonderful, thanks",
        "yes, 8 pm works best for me",
        "I'd like to practise at 8 pm",
        "We're exercising at 8 pm",
    ],
)
def test_carriers_the_question_and_verbs_are_explained(reply: str) -> None:
    assert said(TIME, reply) == "20:00"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("reply", "reason"),
    {
        "actually, 8 pm": Why.MARKER,
        "change it to 8 pm": Why.MARKER,
        "8 pm and also a racket": Why.MARKER,
        "not 8 pm": Why.NEGATED,
        "I can't do 8 pm": Why.NEGATED,
        "is 8 pm the last one": Why.QUESTION,
        "do you have rackets at 8 pm": Why.QUESTION,
        "8 pm. what does it cost?": Why.QUESTION,
        "8 pm with a trainer": Why.LEFTOVER,
        "8 pm tomorrow": Why.LEFTOVER,
        "8 pm for two people": Why.LEFTOVER,
        "8 pm and 9 pm": Why.SEVERAL,
        "I don't know yet": Why.NEGATED,
        "my racket is broken": Why.LEFTOVER,
        "well, let me see": Why.NO_VALUE,
        "yes, that's right": Why.NOTHING_PROPOSED,
        "": Why.EMPTY,
        "…": Why.EMPTY,
        "8 pm " * 200: Why.LONG,
    }.items(),
)
def test_what_isnt_plain_says_why(reply: str, reason: Why) -> None:
    assert why(TIME, reply) is reason


def test_leftover_words_are_returned() -> None:
    reading = read(TIME, "8 pm with a trainer", WEDNESDAY)
    assert reading == Unclear(Why.LEFTOVER, ("trainer",))


@pytest.mark.parametrize(
    ("word", "is_one"), {"pelase": True, "greaat": True, "hotle": True, "form": False, "cheese": False}.items()
)
def test_a_slip_of_typing_is_only_a_long_carrier_word_with_swapped_or_doubled_letters(word: str, is_one: bool) -> None:
    assert is_slip(word) is is_one


@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "I will embark from Boston": "Boston",
        "what I need is Boston": "Boston",
        "somewhere close to Boston pelase": "Boston",
        "look for one in Boston": "Boston",
        "I would hate Boston": None,
        "I want to avoid Boston": None,
    }.items(),
)
def test_a_verb_behind_an_auxiliary_is_explained_unless_it_refuses(reply: str, value: str | None) -> None:
    assert said(named("Boston", "Chicago"), reply) == value
