"""A question whether a day or a time suits proposes it; other questions are questions."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Direct, Question, Slot, SlotKind, read
from duologue.dialogue.english.questions import asks
from duologue.dialogue.english.tokens import tokens_of
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, said

DAY = ask(SlotKind.DATE, "On which day would you like a table?")

TIME = ask(SlotKind.TIME, "At what time?")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "reply",
    [
        "do you have something on Friday?",
        "do you still have a table on Friday",
        "have you got anything on Friday?",
        "is there anything free on Friday?",
        "are you free on Friday?",
        "is Friday possible?",
        "is Friday any good",
        "does Friday work for you?",
        "would Friday be all right?",
        "um, is Friday okay?",
        "is Friday still free?",
        "is it possible on Friday?",
        "would it be okay on Friday?",
        "would you be free on Friday?",
    ],
)
def test_asking_whether_a_day_suits_proposes_it(reply: str) -> None:
    assert said(DAY, reply) == "2026-03-06"


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["is eight pm okay?", "do you have a table at 8 pm?", "will 8 pm work"])
def test_asking_whether_a_time_suits_proposes_it(reply: str) -> None:
    assert said(TIME, reply) == "20:00"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply",
    [
        "is Friday a holiday?",
        "are you open on Friday?",
        "what do you have on Friday?",
        "do you have live music on Friday?",
        "is there a deposit on Friday?",
        "do you have a table on Friday or Saturday?",
        "does Friday cost more?",
        "have you booked it on Friday?",
        "is it Friday?",
        "isn't Friday possible?",
        "is Friday not possible?",
        "is there a table?",
        "is Friday the 6th?",
        "is tomorrow the fifth?",
        "is Friday right?",
        "is Friday over?",
        "will Friday be busy?",
        "do you have a table until Friday?",
        "will you be there on Friday?",
    ],
)
def test_any_other_question_is_for_nlu(reply: str) -> None:
    assert said(DAY, reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("is there anything on Friday at 8 pm?", {"day": "2026-03-06", "time": "20:00"}),
        ("do you have a table for four on Friday?", {"people": 4, "day": "2026-03-06"}),
        ("do you have a table outside on Friday?", {"seating": "outside", "day": "2026-03-06"}),
        ("do you have a nice view on Friday at 8 pm?", {}),
        ("do you have a table for four?", {}),  # no moment is asked about: what they have may be the question
    ],
)
def test_several_values_may_be_asked_about_at_once(reply: str, values: dict[str, object]) -> None:
    seating = Slot("seating", SlotKind.CHOICE, choices=(Choice("inside"), Choice("outside")))
    others = (seating, Slot("time", SlotKind.TIME), Slot("people", SlotKind.NUMBER))
    reading = read(Question(DAY.slot, DAY.text, others=others), reply, WEDNESDAY)
    found = {value.slot: value.value for value in reading.values} if isinstance(reading, Direct) else {}
    assert found == {("it" if name == "day" else name): value for name, value in values.items()}


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("you've got three guests on there, right", True),
        ("thanks, and you have my new address right", True),
        ("you got all of that right", False),
        ("yes that's all right", False),
        ("the door on the right", False),
    ],
)
def test_a_statement_about_the_agent_that_seeks_agreement_is_a_question(text: str, is_question: bool) -> None:
    assert asks(tokens_of(text)) is is_question
