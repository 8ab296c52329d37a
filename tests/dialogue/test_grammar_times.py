"""Times of day as people say them."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Question, Slot, SlotKind
from tests.dialogue.grammar_replies import ask, said

TIME = ask(SlotKind.TIME, "What time?")

PLAIN = {
    "6:30 pm": "18:30",
    "6.30 p.m.": "18:30",
    "six thirty pm": "18:30",
    "six p.m. please": "18:00",
    "half past six in the evening": "18:30",
    "a quarter to seven in the morning": "06:45",
    "quarter past 11 in the morning": "11:15",
    "ten to nine at night": "20:50",
    "twenty minutes past four in the afternoon": "16:20",
    "half six in the evening": "18:30",
    "six forty five pm": "18:45",
    "seven oh five am": "07:05",
    "eighteen thirty": "18:30",
    "18:30": "18:30",
    "09:15": "09:15",
    "eighteen hundred": "18:00",
    "around noon": "12:00",
    "midnight": "00:00",
    "twelve noon": "12:00",
    "quarter to noon": "11:45",
    "12 am": "00:00",
    "twelve pm": "12:00",
    "evening, around 7": "19:00",
    "in the evening at seven": "19:00",
    "this afternoon at 3": "15:00",
    "morning 10:15": "10:15",
    "eight o'clock tonight": "20:00",
    "1830": "18:30",
    "11:15": "11:15",
    "at three": "15:00",
    "half past two": "14:30",
    "uh, eleven, I think": "11:00",
    "I'd say at about four thirty": "16:30",
    "two in the afternoon would suit me best": "14:00",
    "twelve midnight": "00:00",
    "noonish": "12:00",
    "19 hundred hours": "19:00",
    "three on the dot": "15:00",
}


@pytest.mark.req("D-04", "D-06")
@pytest.mark.parametrize(("reply", "time"), PLAIN.items())
def test_a_time_as_people_say_it(reply: str, time: str) -> None:
    assert said(TIME, reply) == time


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("reply", "times"),
    {
        "half past six": ["06:30", "18:30"],
        "a quarter to nine": ["08:45", "20:45"],
        "at seven": ["07:00", "19:00"],
        "6:15": ["06:15", "18:15"],
        "eight o'clock": ["08:00", "20:00"],
    }.items(),
)
def test_a_time_with_neither_am_nor_pm_is_both(reply: str, times: list[str]) -> None:
    assert said(TIME, reply) == times


def test_the_hours_of_the_slot_settle_it() -> None:
    shop = ask(SlotKind.TIME, hours=(9, 18))
    assert said(shop, "half past five") == "17:30"
    assert said(shop, "ten") == "10:00"
    alarm = ask(SlotKind.TIME, hours=(0, 24))
    assert said(alarm, "half past five") == ["05:30", "17:30"]


@pytest.mark.parametrize(
    ("reply", "time"),
    {"in the evening": "18:30", "pm": "18:30", "the first one": "06:30", "the morning, please": "06:30"}.items(),
)
def test_a_reply_to_the_question_back_settles_it(reply: str, time: str) -> None:
    slot = Slot("time", SlotKind.TIME)
    assert said(Question(slot, "In the morning or in the evening?", among=("06:30", "18:30")), reply) == time


def test_another_time_may_be_given_to_the_question_back() -> None:
    slot = Slot("time", SlotKind.TIME)
    assert said(Question(slot, among=("06:30", "18:30")), "let's make it five pm") == "17:00"


@pytest.mark.parametrize(
    "reply",
    [
        "in the morning",
        "25:00",
        "6:75",
        "after six pm",
        "in two hours",
        "six people",
        "six or seven pm",
        "before noon",
        "five to",
        "twenty past",
        "from five to six",
    ],
)
def test_what_is_no_time_is_for_nlu(reply: str) -> None:
    assert said(TIME, reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "a table for six please": None,
        "a table for six tonight": None,
        "something for two tonight": None,
        "six tonight": "18:00",
        "a table for six o'clock": "18:00",
        "a table for 6:30": "18:30",
        "book it for six": "18:00",
    }.items(),
)
def test_a_table_for_six_is_no_time(reply: str, value: str | None) -> None:
    assert said(ask(SlotKind.TIME, hours=(11, 23)), reply) == value
