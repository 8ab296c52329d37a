"""What was once taken for a value and is none, kind by kind: handed on, never guessed (D-04, D-05)."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Confirmation, Direct, Question, Slot, SlotKind, read
from tests.dialogue.grammar_replies import ask, one_of, said

PEOPLE = ask(SlotKind.NUMBER, "For how many people?", "people")
MONEY = ask(SlotKind.MONEY, "How much?", "amount")
TIME = ask(SlotKind.TIME, "At what time?", "time", hours=(11, 23))
PICKUP = ask(SlotKind.TIME, "When should the driver come?", "pickup_time")
LANDING = ask(SlotKind.TIME, "When does your flight land?", "time")
MONTHLY = ask(SlotKind.MONEY, "How much can you pay a month?", "amount")
LENGTH = ask(SlotKind.DURATION, "For how long?", "length")
DAY = ask(SlotKind.DATE, "On which day?", "day")


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
        (DAY, "every Friday"),
        (DAY, "no Friday"),
        (one_of("inside", "outside", "bar"), "no bar"),
    ],
)
def test_a_number_or_name_that_is_no_answer(question: Question, reply: str) -> None:
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
        (DAY, "no, Friday", "2026-03-06"),
        (one_of("inside", "outside", "bar"), "no, the bar", "bar"),
    ],
)
def test_what_stands_beside_it_and_is_one(question: Question, reply: str, value: object) -> None:
    assert said(question, reply) == value


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "values"),
    {
        "the large one": {"size": "large"},
        "a large one please": {"size": "large"},
        "one large": {"size": "large", "count": 1},
        "two large ones": {"size": "large", "count": 2},
    }.items(),
)
def test_the_large_one_counts_nothing(reply: str, values: dict[str, object]) -> None:
    size, count = (
        Slot("size", SlotKind.CHOICE, choices=(Choice("small"), Choice("large"))),
        Slot("count", SlotKind.NUMBER),
    )
    reading = read(Question(size, others=(count,)), reply, "2026-03-04")
    assert isinstance(reading, Direct)
    assert {value.slot: value.value for value in reading.values} == values


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["ten euros a month", "Friday, ten euros each", "Friday, my flight is at seven pm"])
def test_what_is_no_sum_or_time_alone_is_none_among_several(reply: str) -> None:
    reading = read(Question(DAY.slot, DAY.text, others=(MONEY.slot, TIME.slot)), reply, "2026-03-04")
    assert not isinstance(reading, Direct)


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["six tonight", "for six tonight", "6 this evening"])
def test_where_it_is_asked_how_many_six_tonight_is_no_time(reply: str) -> None:
    others = (Slot("time", SlotKind.TIME), Slot("day", SlotKind.DATE))
    reading = read(Question(PEOPLE.slot, PEOPLE.text, others=others), reply, "2026-03-04")
    assert not isinstance(reading, Direct)


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["not inside", "inside not outside", "I don't want outside"])
def test_a_no_to_one_choice_leaves_no_question_open(reply: str) -> None:
    slot = Slot("place", SlotKind.CHOICE, choices=(Choice("inside"), Choice("outside")), may_be_any=True)
    assert not isinstance(read(Question(slot), reply, "2026-03-04"), Confirmation)


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["I will", "I want to", "please do", "do it", "I'd like to"])
def test_what_is_to_come_is_no_answer_to_what_was(reply: str) -> None:
    # Once: "I will" said that it had been switched off and on again.
    assert said(ask(SlotKind.YES_NO, "Have you switched it off and on again?"), reply) is None
    assert said(ask(SlotKind.YES_NO, "Would you like a window seat?"), reply) is True


@pytest.mark.parametrize(("reply", "value"), {"yes I did": True, "I did": True, "I haven't": False}.items())
def test_what_was_is_answered_by_what_was(reply: str, value: bool) -> None:
    assert said(ask(SlotKind.YES_NO, "Have you switched it off and on again?"), reply) is value
