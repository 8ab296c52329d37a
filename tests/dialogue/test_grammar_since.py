"""Days counted from another day, and the two ends of a stay (D-04, D-07)."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Direct, Question, Slot, SlotKind, read
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import Talker, talk
from tests.dialogue.grammar_replies import WEDNESDAY, ask, said


def stay() -> Talker:
    """Today is Tuesday, December 2."""
    days = (
        SlotSpec("arrival", SlotKind.DATE, "When will you arrive?"),
        SlotSpec("departure", SlotKind.DATE, "And leave?"),
    )
    room = SlotSpec("wish", SlotKind.TEXT, "Any wishes?")
    return talk(Collect("a", "arrival"), Collect("b", "departure"), Collect("c", "wish"), slots=(*days, room))


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "the day after": "2025-12-13",
        "the day after that, please": "2025-12-13",
        "the next day": "2025-12-13",
        "the following day": "2025-12-13",
        "two days later": "2025-12-14",
        "a week later": "2025-12-19",
        "three days after that": "2025-12-15",
        "three nights": "2025-12-15",
        "for two nights": "2025-12-14",
        "the following Friday": "2025-12-19",
        "the Sunday after": "2025-12-14",
        "the day after tomorrow": "2025-12-04",
        "in three days": "2025-12-05",
    }.items(),
)
def test_a_day_is_counted_from_the_one_that_was_given(reply: str, day: str) -> None:
    assert stay().says("december 12", reply).slots == {"arrival": "2025-12-12", "departure": day}


@pytest.mark.req("D-07")
def test_a_day_that_is_put_right_is_counted_from_itself() -> None:
    assert stay().says("december 12", "no, the day after").slots == {"arrival": "2025-12-13"}
    talker = stay().says("december 12", "december 15", "actually two days later")
    assert talker.slots == {"arrival": "2025-12-12", "departure": "2025-12-17"}


def test_nights_are_never_added_to_the_day_that_they_end() -> None:
    talker = stay().says("december 12", "three nights", "no, two nights")
    assert talker.slots["departure"] == "2025-12-15"


@pytest.mark.parametrize("reply", ["the day after", "two days later", "the next day", "the Sunday after", "two nights"])
def test_without_another_day_there_is_nothing_to_count_from(reply: str) -> None:
    assert stay().says(reply).slots == {}
    assert said(ask(SlotKind.DATE), reply) is None


@pytest.mark.parametrize("reply", ["the day after Easter", "two days after the wedding", "the day after my birthday"])
def test_a_day_after_something_else_is_not_counted_from_the_other_day(reply: str) -> None:
    assert "departure" not in stay().says("december 12", reply).slots


@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "a week tomorrow": "2026-03-12",  # once: tomorrow
        "tomorrow week": "2026-03-12",
        "a week today": "2026-03-11",
        "two weeks tomorrow": "2026-03-19",
        "the first of the month": "2026-04-01",  # once: a day that had passed
    }.items(),
)
def test_a_week_tomorrow_is_not_tomorrow(reply: str, day: str) -> None:
    assert said(ask(SlotKind.DATE), reply) == day


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("names", "reply"),
    [
        (("arrival", "departure"), "from march 12 to march 15"),  # once: the other way round
        (("arrival_date", "departure_date"), "march 12 until march 15"),
        (("check_in", "check_out"), "from the 12th to the 15th"),
        (("departure_date", "return_date"), "from march 12 to march 15"),
        (("arrival", "end"), "from march 12 to march 15"),
        (("pickup_date", "dropoff_date"), "march 12 to march 15"),
    ],
)
def test_the_first_day_of_two_is_the_one_that_comes_first(names: tuple[str, str], reply: str) -> None:
    first, last = (Slot(name, SlotKind.DATE) for name in names)
    for question in (Question(first, others=(last,)), Question(last, others=(first,))):
        reading = read(question, reply, WEDNESDAY)
        assert isinstance(reading, Direct)
        assert [reading.value_of(name) for name in names] == ["2026-03-12", "2026-03-15"]


def test_until_is_said_of_a_departure_and_from_of_an_arrival() -> None:
    assert said(ask(SlotKind.DATE, "When will you leave?", "departure"), "until the 15th") == "2026-03-15"
    assert said(ask(SlotKind.DATE, "When will you arrive?", "arrival"), "from the 12th") == "2026-03-12"
    assert said(ask(SlotKind.DATE, "When does it begin?", "start_date"), "until the 15th") is None
