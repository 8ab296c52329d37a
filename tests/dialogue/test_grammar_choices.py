"""One of a few, yes or no, and "I don't mind"."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import ANY, Choice, Direct, Question, Slot, SlotKind, read
from tests.dialogue.grammar_replies import ask, one_of, said

SEATS = one_of("Aisle", "Window", "Extra legroom")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "window": "Window",
        "A window seat, please": "Window",
        "I'd prefer the aisle": "Aisle",
        "extra legroom would be great": "Extra legroom",
        "the second one": "Window",
        "the last": "Extra legroom",
        "the last one please": "Extra legroom",
        "number two": "Window",
        "option c": "Extra legroom",
        "the first option": "Aisle",
        "windows": "Window",
    }.items(),
)
def test_a_choice_by_name_or_place(reply: str, value: str) -> None:
    assert said(SEATS, reply) == value


@pytest.mark.parametrize(
    "reply",
    [
        "aisle or window",
        "not the window",
        "the fourth one",
        "first I want to know the price",
        "the big one",
        "both",
        "middle",
    ],
)
def test_no_choice_or_several_are_for_nlu(reply: str) -> None:
    assert said(SEATS, reply) is None


def test_the_former_and_the_latter() -> None:
    pair = one_of("Morning", "Evening")
    assert said(pair, "the former") == "Morning"
    assert said(pair, "the latter, please") == "Evening"


def test_a_choice_by_what_else_it_is_called() -> None:
    slot = Slot("account", SlotKind.CHOICE, choices=(Choice("checking", ("current", "everyday")), Choice("savings")))
    assert said(Question(slot), "my everyday account") == "checking"


def test_a_longer_choice_wins_over_its_part() -> None:
    assert said(one_of("Economy", "Premium Economy"), "premium economy please") == "Premium Economy"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "yes": True,
        "yeah sure": True,
        "that's fine with me": True,
        "sounds good": True,
        "why not": True,
        "I don't mind": True,
        "no problem": True,
        "please do": True,
        "I'd like a wake-up call": True,
        "a wake up call would be great": True,
        "no": False,
        "nope, thanks": False,
        "no thank you": False,
        "I'd rather not": False,
        "not really": False,
        "I don't need that": False,
        "I won't be needing a wake-up call": False,
        "no, that's fine": None,
        "yes but only tomorrow": None,
        "I don't know": None,
        "yes, at seven": None,
        "I'm good, thanks": None,
        "I'm good with that": True,
        "I'd like to think about it": None,
        "let me see": None,
        "what does it cost?": None,
    }.items(),
)
def test_yes_and_no_as_people_say_it(reply: str, value: bool | None) -> None:
    question = ask(SlotKind.YES_NO, "Would you like a wake-up call?", "wake_up_call")
    assert said(question, reply) is value


def test_a_question_that_minds_or_offers_two_things_needs_more_than_yes() -> None:
    minds = ask(SlotKind.YES_NO, "Do you mind sharing a table?", "shared_table")
    assert said(minds, "yes") is None
    assert said(minds, "no") is None
    assert said(minds, "no, I don't mind") is True
    assert said(minds, "that's fine") is True
    offers = ask(SlotKind.YES_NO, "A shared table or your own?", "shared_table")
    assert said(offers, "yes") is None
    assert said(offers, "my own would be great") is None
    assert said(offers, "a shared one is fine") is True


@pytest.mark.parametrize(
    "reply",
    ["I don't mind", "whatever", "any is fine", "it doesn't matter to me", "no preference", "you choose", "anything"],
)
def test_any_will_do_where_that_is_an_answer(reply: str) -> None:
    seat = Slot("seat", SlotKind.CHOICE, choices=(Choice("Aisle"), Choice("Window")), may_be_any=True)
    assert said(Question(seat), reply) == ANY
    assert said(one_of("Aisle", "Window"), reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["yes", "yes please", "that works for me", "sure, that's perfect", "correct"])
def test_yes_to_a_proposed_value_is_that_value(reply: str) -> None:
    slot = Slot("day", SlotKind.DATE)
    reading = read(Question(slot, "Shall I take Friday?", proposed="2026-03-06"), reply, "2026-03-04")
    assert isinstance(reading, Direct)
    assert reading.value_of("day") == "2026-03-06"
    assert said(Question(slot, "Which day?"), reply) is None


def test_yes_to_a_question_that_minds_proposes_nothing() -> None:
    slot = Slot("day", SlotKind.DATE)
    assert said(Question(slot, "Would you mind Friday?", proposed="2026-03-06"), "yes") is None
    assert said(Question(slot, "Would you mind Friday?", proposed="2026-03-06"), "that's fine") == "2026-03-06"


def test_a_proposed_value_may_be_an_amount() -> None:
    amount = {"amount": 20, "currency": "EUR"}
    assert said(Question(Slot("tip", SlotKind.MONEY), "Shall I add 20 euros?", proposed=amount), "yes please") == amount
    assert said(Question(Slot("tip", SlotKind.MONEY), among=(amount, None)), "twenty euros") == amount


@pytest.mark.req("D-04")
def test_another_value_than_the_proposed_one_is_that_value() -> None:
    question = Question(Slot("day", SlotKind.DATE), "Shall I take Friday?", proposed="2026-03-06")
    assert said(question, "no, Saturday") == "2026-03-07"
