"""Birthdays and names as people say them, and days that are told with their year."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.templates import fill, spoken
from tests.dialogue.grammar_replies import WEDNESDAY, ask, named, said

BIRTHDAY = ask(SlotKind.DATE, "And the date of birth?", "birthday", is_past=True)
NAME = ask(SlotKind.NAME, "What is your name?", "patient")


@pytest.mark.req("D-04", "D-06")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "3 May 1984": "1984-05-03",
        "third of May eighty-four": "1984-05-03",
        "May the 3rd, 84": "1984-05-03",
        "I was born on June 5 1970": "1970-06-05",
        "12.03.1990": "1990-03-12",
        "13/5/84": "1984-05-13",  # once: 2084
        "13/5/24": "2024-05-13",
    }.items(),
)
def test_a_birthday_lies_behind(reply: str, day: str) -> None:
    assert said(BIRTHDAY, reply) == day


def test_a_short_year_is_one_to_come_where_days_are() -> None:
    assert said(ask(SlotKind.DATE), "13/5/27") == "2027-05-13"
    assert said(ask(SlotKind.DATE), "May 3 84") is None


def test_one_of_two_birthdays_keeps_its_year() -> None:
    # Once: "May 3", after "May 3 or March 5?", was the last one that there was.
    either = replace(BIRTHDAY, among=("1984-05-03", "1984-03-05"))
    assert said(either, "May 3") == "1984-05-03"


@pytest.mark.parametrize(
    ("day", "words"),
    {
        "2026-03-10": "March 10",
        "2026-02-27": "February 27",
        "2026-12-24": "December 24",
        "2027-01-05": "January 5, 2027",
        "2027-03-03": "March 3, 2027",
        "1984-05-03": "May 3, 1984",
    }.items(),
)
def test_a_day_of_another_year_is_said_with_it(day: str, words: str) -> None:
    assert spoken(day, WEDNESDAY) == words
    assert fill("born {day}", {"day": day}, WEDNESDAY) == f"born {words}"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "Mr. Miller": "Mr. Miller",
        "it's Mrs. Smith, please": "Mrs. Smith",
        "I'm Sam": "Sam",
        "I am Sam Miller, hello": "Sam Miller",
        "I'm busy": None,
        "i'm sam": None,
        "3 May 1984": None,  # once: somebody's name
        "Patel or Klein": None,
    }.items(),
)
def test_a_name_may_have_a_title_and_is_never_a_day_or_a_choice(reply: str, name: str | None) -> None:
    assert said(NAME, reply) == name


@pytest.mark.parametrize("reply", ["Dr. Okafor please", "Doctor Okafor", "dr okafor", "I'd like to see Dr. Okafor"])
def test_a_title_before_a_known_name_is_no_other_name(reply: str) -> None:
    assert said(named("Okafor", "Klein", is_open=False), reply) == "Okafor"


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "twenty three four eighty four": "1984-04-23",
        "oh four twenty three nineteen eighty four": "1984-04-23",
        "23 04 1984": "1984-04-23",
        "twelve three eighty four": ["1984-12-03", "1984-03-12"],
        "twenty thirty eighty four": None,
        "twelve three": None,
    }.items(),
)
def test_three_numbers_are_a_day_of_birth(reply: str, day: str | list[str] | None) -> None:
    assert said(ask(SlotKind.DATE, "What is your date of birth?", is_past=True), reply) == day


@pytest.mark.req("D-05")
def test_three_numbers_are_no_other_day() -> None:
    assert said(ask(SlotKind.DATE, "When would you like to come?"), "twenty three four eighty four") is None
