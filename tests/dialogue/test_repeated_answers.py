"""Answers that are given once more, after the agent has gone on."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SayText, SlotSpec
from tests.dialogue.dialogue_flows import COLOUR, SIZE, Talker, number, talk

MILES = number("miles")
TITLE = SlotSpec("title", SlotKind.TEXT, "Which book?")
CODE = SlotSpec("code", SlotKind.CODE, "Which card?")


def after_miles() -> Talker:
    return talk(Collect("miles", "miles"), Collect("colour", "colour"), slots=(MILES, COLOUR)).says("93 thousand")


@pytest.mark.req("D-05")
def test_the_last_answer_once_more_is_no_miss() -> None:
    talker = after_miles().says("93 thousand")
    assert (talker.said, talker.slots) == ("All right. colour?", {"miles": 93_000})
    assert not talker.asked_nlu


def test_another_value_for_the_last_question_is_a_correction() -> None:
    talker = after_miles().says("94 thousand")
    assert talker.said == "Got it, I've updated your miles to 94000. colour?"
    assert talker.slots == {"miles": 94_000}


@pytest.mark.parametrize("text", ["if I can have one", "could you take two of them there", "is it 93 thousand?"])
def test_a_number_in_other_words_corrects_nothing(text: str) -> None:
    assert after_miles().says(text).slots == {"miles": 93_000}


def test_a_repeated_code_is_no_text() -> None:
    talker = talk(Collect("code", "code"), Collect("title", "title"), slots=(CODE, TITLE)).says(
        "LN 2093", "l n 2 0 9 3"
    )
    assert (talker.said, talker.slots) == ("All right. Which book?", {"code": "LN2093"})


def test_a_value_that_the_agent_checks_is_confirmed_by_saying_it_again() -> None:
    talker = talk(Collect("code", "code"), PerformAction("act", "act"), SayText("end", "Done."), slots=(CODE,))
    talker.says("it's my wife's card, LN 2093")
    assert talker.said == "I have code LN2093. Is that right?"
    assert talker.says("LN 2093").runs


def test_a_value_again_at_a_confirmation_is_no_yes() -> None:
    steps = (Collect("size", "size"), Confirm("ok", "A {size} one. Shall I?"), PerformAction("act", "act"))
    talker = talk(*steps, slots=(SIZE,)).says("small", "small")
    assert not talker.runs
    assert talker.said == "All right. A small one. Shall I?"
