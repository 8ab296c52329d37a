"""Dates as people say them. Today is Wednesday, March 4, 2026."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from tests.dialogue.english.grammar_replies import ask, said

BIRTHDAY = ask(SlotKind.DATE, "And the date of birth?", "birthday", is_past=True)

DATE = ask(SlotKind.DATE, "When would you like to come?")

PLAIN = {
    "today": "2026-03-04",
    "Tomorrow, please.": "2026-03-05",
    "the day after tomorrow": "2026-03-06",
    "day after tomorrow": "2026-03-06",
    "uh, later today": "2026-03-04",
    "on Saturday": "2026-03-07",
    "this Friday": "2026-03-06",
    "this coming Friday": "2026-03-06",
    "Friday next week": "2026-03-13",
    "next week on Friday": "2026-03-13",
    "next week Monday would be great": "2026-03-09",
    "Friday week": "2026-03-13",
    "a week from Friday": "2026-03-13",
    "a week from today": "2026-03-11",
    "a week on Monday": "2026-03-16",
    "in two weeks": "2026-03-18",
    "in a fortnight": "2026-03-18",
    "in ten days": "2026-03-14",
    "three days from now": "2026-03-07",
    "in a month": "2026-04-04",
    "March 5th": "2026-03-05",
    "the fifth of March": "2026-03-05",
    "March the fifth": "2026-03-05",
    "the twenty-first of March": "2026-03-21",
    "twenty first of march": "2026-03-21",
    "21 March": "2026-03-21",
    "the 21st": "2026-03-21",
    "the 2nd": "2026-04-02",
    "the thirty first": "2026-03-31",
    "the 5th of next month": "2026-04-05",
    "the 9th of this month": "2026-03-09",
    "February 3rd": "2027-02-03",
    "February 29th": "2028-02-29",
    "July 4th 2027": "2027-07-04",
    "the third of May, twenty twenty seven": "2027-05-03",
    "Friday the 13th": "2026-03-13",
    "Saturday, March 7th": "2026-03-07",
    "2026-12-24": "2026-12-24",
    "12/24": "2026-12-24",
    "Christmas Eve": "2026-12-24",
    "the end of the month": "2026-03-31",
    "the last day of April": "2026-04-30",
    "on the weekend, this Sunday": "2026-03-08",
    "I'd like to come on the ninth, if possible": "2026-03-09",
    "How about tomorrow?": "2026-03-05",
    "no, on the 6th": "2026-03-06",
    "the last Friday of March": "2026-03-27",
    "first Monday in April": "2026-04-06",
    "the fifth Thursday of April": "2026-04-30",
    "the second Tuesday of next month": "2026-04-14",
    "the first Tuesday of March": "2027-03-02",
    "the twelfth of the third": "2026-03-12",
    "on Good Friday": "2026-04-03",
    "for Good Friday, please": "2026-04-03",
    "good, Friday": "2026-03-06",
    "sounds good Friday": "2026-03-06",
    "Good. Friday.": "2026-03-06",
    "Easter Monday": "2026-04-06",
    "Easter 2027": "2027-03-28",
    "the third Tuesday of May 2027": "2027-05-18",
    "the end of March": "2026-03-31",
    "the end of February": "2027-02-28",
    "in a couple of weeks": "2026-03-18",
    "in a week's time": "2026-03-11",
    "twenty first": "2026-03-21",
}


@pytest.mark.req("D-04", "D-06")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "3 May 1984": "1984-05-03",
        "third of May eighty-four": "1984-05-03",
        "May the 3rd, 84": "1984-05-03",
        "I was born on June 5 1970": "1970-06-05",
        "12.03.1990": "1990-03-12",
        "13/5/84": "1984-05-13",  # past bug: 2084
        "13/5/24": "2024-05-13",
    }.items(),
)
def test_a_birthday_is_in_the_past_however_its_year_is_said(reply: str, day: str) -> None:
    assert said(BIRTHDAY, reply) == day


def test_a_short_year_is_in_the_future_unless_the_date_is_past() -> None:
    assert said(ask(SlotKind.DATE), "13/5/27") == "2027-05-13"
    assert said(ask(SlotKind.DATE), "May 3 84") is None


@pytest.mark.req("D-04", "D-06")
@pytest.mark.parametrize(("reply", "day"), PLAIN.items())
def test_a_date_as_people_say_it(reply: str, day: str) -> None:
    assert said(DATE, reply) == day


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("reply", "days"),
    {
        "next Friday": ["2026-03-06", "2026-03-13"],
        "Wednesday": ["2026-03-04", "2026-03-11"],
        "this weekend": ["2026-03-07", "2026-03-08"],
        "next weekend": ["2026-03-14", "2026-03-15"],
        "next week": ["2026-03-09", "2026-03-10", "2026-03-11", "2026-03-12", "2026-03-13"],
        "early next week": ["2026-03-09", "2026-03-10", "2026-03-11"],
        "later this week": ["2026-03-05", "2026-03-06"],
        "Monday or Tuesday": ["2026-03-09", "2026-03-10"],
        "3/5": ["2026-03-05", "2026-05-03"],
        "Friday the 12th": ["2026-03-12", "2026-03-06"],
        "good Friday": ["2026-04-03", "2026-03-06"],
    }.items(),
)
def test_a_date_that_may_be_two_days_is_both(reply: str, days: list[str]) -> None:
    assert said(DATE, reply) == days


def test_next_friday_is_one_day_when_both_meanings_fall_together() -> None:
    assert said(DATE, "next Friday", today="2026-03-06") == "2026-03-13"
    assert said(DATE, "next Monday", today="2026-03-06") == "2026-03-09"


@pytest.mark.req("D-06")
def test_a_birthday_is_in_the_past() -> None:
    birthday = ask(SlotKind.DATE, "When were you born?", is_past=True)
    assert said(birthday, "the fifth of May nineteen ninety") == "1990-05-05"
    assert said(birthday, "May 5th 1990") == "1990-05-05"
    assert said(birthday, "June first, two thousand and five") == "2005-06-01"
    assert said(ask(SlotKind.DATE, "When did it happen?", is_past=True), "March 5th") == "2025-03-05"


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["March 5th", "Monday", "last Friday", "yesterday", "two weeks ago", "the 5th"])
def test_a_date_of_birth_names_its_year(reply: str) -> None:
    assert said(ask(SlotKind.DATE, "When were you born?", is_past=True), reply) is None
    assert said(BIRTHDAY, reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "in the summer",
        "February 30th",
        "March 40th",
        "may I ask something",
        "sometime",
        "the fifth Friday of April",
        "the first of thirty",
        "we sat down",
        "the second floor",
        "for the Christmas party",
        "Easter week",
        "I'm busy on Friday",
        "Friday is busy",
    ],
)
def test_what_is_not_a_day_is_for_nlu(reply: str) -> None:
    assert said(DATE, reply) is None


def test_short_weekdays_count_only_where_a_date_is_asked_for() -> None:
    assert said(DATE, "Fri") == "2026-03-06"
    assert said(ask(SlotKind.NUMBER), "two on sat") is None


@pytest.mark.parametrize(
    ("today", "reply"),
    [
        ("9999-12-31", "tomorrow"),
        ("9999-12-30", "next Monday"),
        ("9999-12-31", "in two months"),
        ("9999-12-31", "the 5th of next month"),
        ("9999-12-31", "the end of next month"),
        ("9999-12-31", "the first Monday of next month"),
        ("9999-12-31", "Easter Monday"),
        ("9999-12-31", "March 5th"),
        ("9999-12-31", "the end of March"),
        ("0001-01-01", "yesterday"),
        ("0001-01-01", "a year ago"),
    ],
)
def test_a_day_outside_the_calendar_is_not_a_date(today: str, reply: str) -> None:
    # Past bug: "tomorrow" was 10000-01-01.
    assert said(DATE, reply, today) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "on Sunday": "2026-03-01",  # past bug: the one to come
        "this Monday": "2026-03-02",
        "Monday last week": "2026-02-23",
        "last week Monday": "2026-02-23",  # past bug: the Monday to come
        "last night": "2026-03-03",
        "this morning": "2026-03-04",
        "on Wednesday": ["2026-03-04", "2026-02-25"],
    }.items(),
)
def test_a_day_on_which_something_happened_is_in_the_past(reply: str, day: str | list[str]) -> None:
    assert said(ask(SlotKind.DATE, "When did it happen?", is_past=True), reply) == day


@pytest.mark.req("D-04")
def test_the_day_before_yesterday_is_a_day() -> None:
    assert said(ask(SlotKind.DATE, is_past=True), "the day before yesterday") == "2026-03-02"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "on Monday": "2026-03-23",  # past bug: March 9, before the car was there
        "the 5th": "2026-04-05",
        "Friday": ["2026-03-20", "2026-03-27"],
        "March 24": "2026-03-24",
    }.items(),
)
def test_a_day_of_return_comes_after_the_day_that_was_given_before(reply: str, day: str | list[str]) -> None:
    assert (
        said(ask(SlotKind.DATE, "When will you bring it back?", "return_date", since="2026-03-20", stays=True), reply)
        == day
    )


@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "a week tomorrow": "2026-03-12",  # past bug: tomorrow
        "tomorrow week": "2026-03-12",
        "a week today": "2026-03-11",
        "two weeks tomorrow": "2026-03-19",
        "the first of the month": "2026-04-01",  # past bug: a day that had passed
    }.items(),
)
def test_a_week_tomorrow_is_a_week_later(reply: str, day: str) -> None:
    assert said(ask(SlotKind.DATE), reply) == day


@pytest.mark.parametrize(
    ("today", "reply", "day"),
    [
        ("2026-03-04", "two months ago", "2026-01-04"),
        ("2026-03-31", "a month ago", "2026-02-28"),
        ("2026-03-04", "a year ago", "2025-03-04"),
        ("2026-03-04", "ten days ago", "2026-02-22"),
        ("2026-03-04", "in two months", "2026-05-04"),
    ],
)
def test_months_ago_are_counted_backwards(today: str, reply: str, day: str) -> None:
    # Past bug: the length of the months to come was subtracted, so "two months ago" was 2026-01-02.
    assert said(ask(SlotKind.DATE, is_past="ago" in reply), reply, today) == day


@pytest.mark.parametrize("reply", ["monday just gone", "this Monday just past", "the Monday gone"])
def test_a_weekday_that_is_gone_is_the_last_one(reply: str) -> None:
    assert said(DATE, reply) == "2026-03-02"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day"),
    [
        ("Saturday the seventh", "2026-03-07"),
        ("Thursday the second", "2026-04-02"),
        ("on Thursday the twelfth please", "2026-03-12"),
        ("Sunday, the fifteenth", "2026-03-15"),
        ("Thursday the seventh", ["2026-03-07", "2026-03-05"]),  # the seventh is a Saturday
    ],
)
def test_a_weekday_may_be_followed_by_a_day_of_a_month(reply: str, day: object) -> None:
    assert said(DATE, reply) == day


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day"),
    [
        ("the fourth of June oh three", "2003-06-04"),
        ("twelve of May zero nine", "2009-05-12"),
        ("4 June 03", "2003-06-04"),
        ("the fourth of June eighty three", "1983-06-04"),
    ],
)
def test_a_year_of_birth_may_begin_with_a_zero(reply: str, day: str) -> None:
    assert said(BIRTHDAY, reply) == day
