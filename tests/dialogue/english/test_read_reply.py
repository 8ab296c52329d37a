"""Whole replies: proposed values, questions back, and values with a yes or no."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duologue.dialogue.english import (
    Choice,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    NameList,
    Question,
    Slot,
    SlotKind,
    SpokenCommand,
    read,
    read_volunteered,
)
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import choice, number, talk
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, named, one_of, said

BIRTHDAY = ask(SlotKind.DATE, "And the date of birth?", "birthday", is_past=True)

NOTE = Slot("note", SlotKind.TEXT, may_be_any=True)

PHONE = Slot("phone", SlotKind.PHONE)


def values(asked: Slot, reply: str, *others: Slot) -> dict[str, Any]:
    reading = read(Question(asked, others=others), reply, WEDNESDAY)
    return {value.slot: value.value for value in reading.values} if isinstance(reading, Direct) else {}


def test_one_of_two_birthdays_keeps_its_year() -> None:
    # Past bug: "May 3", after "May 3 or March 5?", was the last one that there was.
    either = replace(BIRTHDAY, among=("1984-05-03", "1984-03-05"))
    assert said(either, "May 3") == "1984-05-03"


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


def test_a_bare_number_is_enough_in_a_sentence_that_starts_a_task() -> None:
    found = read_volunteered((Slot("people", SlotKind.NUMBER),), "a table for four", "book a table", WEDNESDAY)
    assert found is not None
    assert found.value_of("people") == 4


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "slots"),
    {
        "yes please, two small ones": {"more": True, "amount": 2, "size": "small"},
        "no, a large one": {"more": False, "size": "large"},
        "a large one": {"size": "large"},
    }.items(),
)
def test_a_yes_that_comes_with_values_counts_as_well(reply: str, slots: dict[str, object]) -> None:
    # Past bug: the values were taken and the yes was not, and "anything else?" was asked again.
    more = SlotSpec("more", SlotKind.YES_NO, "Anything else?", ask_before_filling=True)
    steps = (Collect("a", "more"), Collect("b", "size"), Collect("c", "amount"), Confirm("sure", "Right?"))
    talker = talk(
        *steps, PerformAction("send", "send"), slots=(more, choice("size", "small", "large"), number("amount"))
    )
    assert talker.says(reply).slots == slots


@pytest.mark.req("D-05")
def test_a_word_of_another_slot_is_never_a_carrier() -> None:
    area = Slot("area", SlotKind.NAME, names=NameList.of(["Paris", "Lyon"]))
    intent = Slot("intent", SlotKind.CHOICE, choices=(Choice("rent"), Choice("buy")))
    assert said(Question(area, "Which area?"), "I want to rent a place in Lyon") == "Lyon"
    reading = read(Question(area, "Which area?", others=(intent,)), "I want to rent a place in Lyon", WEDNESDAY)
    assert isinstance(reading, Direct)
    assert {value.slot: value.value for value in reading.values} == {"intent": "rent", "area": "Lyon"}


def test_yes_and_then_something_else_is_two_answers() -> None:
    question = named("Paris", "Lyon")
    assert said(question, "Yes. Lyon please.") == "Lyon"
    assert said(question, "Yes, that works. I'd like the one in Lyon.") is None


def test_one_may_be_a_thing_or_a_count() -> None:
    court = named("Lyon", "Paris")
    assert said(court, "find a good one in Lyon") == "Lyon"
    assert said(court, "a table for one in Lyon") is None


@pytest.mark.req("D-04")
def test_a_plain_no_to_a_proposed_value() -> None:
    question = Question(Slot("day", SlotKind.DATE), "Shall I take Friday?", proposed="2026-03-06")
    assert read(question, "no, thank you", WEDNESDAY) == Confirmation(ConfirmationAnswer.NO)
    assert said(question, "not before Easter") is None


@pytest.mark.req("D-04")
def test_a_choice_may_be_called_like_a_command() -> None:
    # Past bug: "back, please", after "front, middle or back?", took an answer back.
    rows = one_of("front", "middle", "back")
    assert said(rows, "back, please") == "back"
    assert said(rows, "the back") == "back"
    assert read(rows, "go back", WEDNESDAY) == SpokenCommand("back")
    assert read(one_of("front", "middle"), "back", WEDNESDAY) == SpokenCommand("back")


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["no that's all", "nothing else", "no, that's it, thanks"])
def test_nothing_to_add_leaves_an_optional_text_empty(reply: str) -> None:
    asked = Question(NOTE, "Anything the teacher should know?")
    assert read(asked, reply, WEDNESDAY) == Confirmation(ConfirmationAnswer.NO)


@pytest.mark.req("D-05")
def test_a_phone_number_is_not_free_text_if_a_slot_asks_for_one() -> None:
    assert values(NOTE, "0171 332211", PHONE) == {"phone": "0171332211"}
    assert values(NOTE, "0171 332211") == {"note": "0171 332211"}


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["not inside", "inside not outside", "I don't want outside"])
def test_a_no_to_one_choice_does_not_skip_the_question(reply: str) -> None:
    slot = Slot("place", SlotKind.CHOICE, choices=(Choice("inside"), Choice("outside")), may_be_any=True)
    assert not isinstance(read(Question(slot), reply, "2026-03-04"), Confirmation)


@pytest.mark.parametrize(
    ("reply", "time"),
    {"in the evening": "18:30", "pm": "18:30", "the first one": "06:30", "the morning, please": "06:30"}.items(),
)
def test_the_reply_to_a_question_back_decides(reply: str, time: str) -> None:
    slot = Slot("time", SlotKind.TIME)
    assert said(Question(slot, "In the morning or in the evening?", among=("06:30", "18:30")), reply) == time


def test_another_time_may_be_given_to_the_question_back() -> None:
    slot = Slot("time", SlotKind.TIME)
    assert said(Question(slot, among=("06:30", "18:30")), "let's make it five pm") == "17:00"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "actually, the 6th": "2026-03-06",
        "no next Monday": "2026-03-09",
        "sorry, could I come on the 6th instead?": "2026-03-06",
        "that's not right, I'll come on the 6th": "2026-03-06",
        "no, not the 5th": None,
    }.items(),
)
def test_another_day_turns_down_the_day_that_the_question_named(reply: str, value: str | None) -> None:
    question = ask(SlotKind.DATE, "Will you come on March 5?", "day")
    assert said(question, reply) == value or (value is None and not isinstance(said(question, reply), str))


def test_actually_is_for_nlu_if_the_question_named_no_day() -> None:
    assert said(ask(SlotKind.DATE, "Which day will you come?", "day"), "actually, the 6th") is None
