"""Questions in the middle of a task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import COLOUR, SIZE, Talker, at_confirmation, talk


def asked(**more: object) -> Talker:
    colour = replace(COLOUR, **more)  # type: ignore[arg-type]
    return talk(Collect("size", "size"), Collect("colour", "colour"), slots=(SIZE, colour)).says("small")


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    "text",
    [
        "what was the size again?",
        "which size did you say?",
        "what size do you have so far?",
        "hold on, what was the size again?",
        "one sec which size did you say",
    ],
)
def test_a_value_that_was_given_is_told_and_the_question_returns(text: str) -> None:
    talker = asked().says(text)
    assert (talker.said, talker.asked_nlu) == ("The size is small. colour?", False)


@pytest.mark.parametrize("text", ["which ones are there?", "what are the options?", "what can I choose?"])
def test_the_choices_are_told(text: str) -> None:
    assert asked().says(text).said in (
        "You can choose red or blue. colour?",
        "You can answer, say go back, or cancel. colour?",
    )


def test_why_is_answered_by_the_help_of_the_question() -> None:
    assert asked(help="For the label.").says("why do you need that?").said == "For the label. colour?"
    assert asked().says("why do you need to know that?").said == "I need the colour for this. colour?"


def test_an_answer_with_a_question_behind_it_is_taken_and_announced() -> None:
    talker = talk(Collect("size", "size"), Collect("colour", "colour"), slots=(SIZE, COLOUR))
    talker.says("the small one, and how long will it take?")
    assert talker.slots == {"size": "small"}
    assert talker.said == "So far I have size small. I can't answer that here. colour?"


def test_a_question_fills_nothing_and_confirms_nothing() -> None:
    assert asked().says("is red nicer than blue?").slots == {"size": "small"}
    for text in ("what was the amount again?", "wait, what was the amount again?"):
        talker = at_confirmation().says(text)
        assert (talker.said, talker.runs) == ("The amount is 50. Send 50 to Anna?", [])
    assert at_confirmation().says("fine, but how much is it, and when?").asked_nlu  # past bug: an error


def test_a_value_that_was_not_given_yet_is_not_made_up() -> None:
    assert asked().says("what was the colour again?").said == "I don't have the colour yet. colour?"


def test_why_behind_an_answer_is_answered_by_the_help() -> None:
    colour = replace(COLOUR, help="For the label.")
    talker = talk(Collect("colour", "colour"), Collect("size", "size"), slots=(SIZE, colour))
    assert talker.says("red, why do you need that?").said == "So far I have colour red. For the label. size?"


LENGTH = SlotSpec("how_long", SlotKind.DURATION, "For how long?", label="length of the stay")
ROOM = SlotSpec("beds", SlotKind.NUMBER, "How many beds?", label="number of beds")


@pytest.mark.parametrize("text", ["what was the length again?", "and what was the length again please?"])
def test_a_question_with_the_main_word_of_a_label_asks_for_the_value(text: str) -> None:
    talker = talk(Collect("a", "how_long"), Collect("b", "colour"), slots=(LENGTH, COLOUR)).says("two days", text)
    assert talker.said.startswith("The length of the stay is ")


@pytest.mark.parametrize("text", ["what's my stay number?", "what was the stay code again?", "what's my length limit?"])
def test_a_question_that_shares_another_word_with_a_label_asks_for_something_else(text: str) -> None:
    talker = talk(Collect("a", "how_long"), Collect("b", "colour"), slots=(LENGTH, COLOUR)).says("two days", text)
    assert "length of the stay" not in talker.said


def test_a_number_may_be_asked_for_by_what_it_counts() -> None:
    talker = talk(Collect("a", "beds"), Collect("b", "colour"), slots=(ROOM, COLOUR)).says("three")
    assert talker.says("how many beds was it again?").said.startswith("The number of beds is 3.")
