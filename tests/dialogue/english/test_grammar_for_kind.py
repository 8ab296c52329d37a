"""What looks like a value and isn't, kind by kind, and listed names inside a reply."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Direct, Question, Slot, SlotKind, read
from tests.dialogue.english.grammar_replies import ask, named, one_of, said

PEOPLE = ask(SlotKind.NUMBER, "For how many people?", "people")

MONEY = ask(SlotKind.MONEY, "How much?", "amount")

TIME = ask(SlotKind.TIME, "At what time?", "time", hours=(11, 23))

PICKUP = ask(SlotKind.TIME, "When should the driver come?", "pickup_time")

MONTHLY = ask(SlotKind.MONEY, "How much can you pay a month?", "amount")

LENGTH = ask(SlotKind.DURATION, "For how long?", "length")

WHICH_DAY = ask(SlotKind.DATE, "On which day?", "day")

LANDING = ask(SlotKind.TIME, "When does your flight land?", "time")


@pytest.mark.parametrize("reply", ["Dr. Okafor please", "Doctor Okafor", "dr okafor", "I'd like to see Dr. Okafor"])
def test_a_title_before_a_known_name_does_not_change_it(reply: str) -> None:
    assert said(named("Okafor", "Klein", is_open=False), reply) == "Okafor"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        (SlotKind.MONEY, "two months"),  # past bug: an amount of two
        (SlotKind.MONEY, "three people"),
        (SlotKind.DURATION, "in twenty minutes"),  # past bug: twenty minutes long
        (SlotKind.DURATION, "two days ago"),
        (SlotKind.NAME, "anna@example.com"),  # past bug: a name
        (SlotKind.NAME, "0171 5551234"),
    ],
)
def test_a_value_of_another_kind_is_not_an_answer(kind: SlotKind, reply: str) -> None:
    assert said(ask(kind, "What is your name?"), reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["from the airport", "at the airport please", "the airport", "uh, the airport then"])
def test_a_listed_name_may_be_an_ordinary_word(reply: str) -> None:
    assert said(named("Airport", "Harbour Street", is_open=False), reply) == "Airport"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("question", "reply"),
    [
        (PEOPLE, "-2"),
        (PEOPLE, "no one"),
        (PEOPLE, "one moment or two"),
        (PEOPLE, "room 5"),
        (PEOPLE, "at seven"),
        (PEOPLE, "three of my friends and me"),
        (MONEY, "-5"),
        (MONEY, "at five"),
        (MONEY, "one moment or two"),
        (PEOPLE, "option two"),
        (PEOPLE, "one oh one"),
        (PEOPLE, "six or so"),
        (PEOPLE, "half a million things"),
        (MONEY, "to account 12345"),
        (MONEY, "over eighty"),
        (MONEY, "thanks a million"),
        (MONEY, "no, more than eighty"),
        (MONEY, "ten dollars a month"),
        (MONEY, "a tenner each"),
        (MONEY, "two thousand and a half"),
        (MONTHLY, "ten dollars a week"),
        (LENGTH, "two hours a day"),
        (LENGTH, "an hour from now"),
        (LENGTH, "three days from today"),
        (TIME, "my flight leaves at seven pm"),
        (TIME, "our dinner is at eight pm"),
        (PICKUP, "I have to be there at seven pm"),
        (PICKUP, "my train gets in at seven pm"),
        (TIME, "seven to eight"),
        (TIME, "seven of us"),
        (TIME, "room 7"),
        (WHICH_DAY, "every Friday"),
        (WHICH_DAY, "no Friday"),
        (one_of("inside", "outside", "bar"), "no bar"),
    ],
)
def test_a_number_or_name_that_is_not_an_answer(question: Question, reply: str) -> None:
    assert said(question, reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("question", "reply", "value"),
    [
        (PEOPLE, "three of my friends", 3),
        (PEOPLE, "2", 2),
        (MONEY, "please send over eighty", {"amount": 80, "currency": None}),
        (MONTHLY, "ten dollars a month", {"amount": 10, "currency": "USD"}),
        (LANDING, "my flight lands at seven pm", "19:00"),
        (PICKUP, "I want to be picked up at seven pm", "19:00"),
        (TIME, "ten to seven", "18:50"),
        (TIME, "seven minutes to eight", "19:53"),
        (WHICH_DAY, "no, Friday", "2026-03-06"),
        (one_of("inside", "outside", "bar"), "no, the bar", "bar"),
    ],
)
def test_a_similar_reply_that_is_an_answer(question: Question, reply: str, value: object) -> None:
    assert said(question, reply) == value


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["six tonight", "for six tonight", "6 this evening"])
def test_six_tonight_is_not_a_time_where_a_count_is_asked_for(reply: str) -> None:
    others = (Slot("time", SlotKind.TIME), Slot("day", SlotKind.DATE))
    reading = read(Question(PEOPLE.slot, PEOPLE.text, others=others), reply, "2026-03-04")
    assert not isinstance(reading, Direct)


def test_a_name_that_is_an_ordinary_word_is_taken_only_alone() -> None:
    songs = named("Help", "After", "Need You", is_open=False)
    assert said(songs, "I need you to play something") is None
    assert said(songs, "Need You") == "Need You"


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
def test_a_table_for_six_is_not_a_time(reply: str, value: str | None) -> None:
    assert said(ask(SlotKind.TIME, hours=(11, 23)), reply) == value


def test_a_number_of_us_is_no_amount() -> None:
    assert said(MONEY, "there are seven of us") is None
