"""Times of day as people say them."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Question, Slot, SlotKind
from tests.dialogue.english.grammar_replies import ask, said

AT = Slot("time", SlotKind.TIME)

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


@pytest.mark.req("D-04")
@pytest.mark.parametrize(("reply", "time"), {"9ish": "09:00", "about nineish": "09:00", "ten-ish": "10:00"}.items())
def test_an_hour_may_be_approximate(reply: str, time: str) -> None:
    assert said(ask(SlotKind.TIME, hours=(7, 19)), reply) == time


@pytest.mark.req("D-04")
def test_am_is_half_of_the_day_and_not_a_question() -> None:
    asked = Question(AT, among=("05:30", "17:30"))
    assert said(asked, "am") == "05:30"
    assert said(asked, "pm please") == "17:30"


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


def test_the_hours_of_the_slot_decide_between_morning_and_evening() -> None:
    shop = ask(SlotKind.TIME, hours=(9, 18))
    assert said(shop, "half past five") == "17:30"
    assert said(shop, "ten") == "10:00"
    alarm = ask(SlotKind.TIME, hours=(0, 24))
    assert said(alarm, "half past five") == ["05:30", "17:30"]


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
def test_what_is_not_a_time_is_for_nlu(reply: str) -> None:
    assert said(TIME, reply) is None
