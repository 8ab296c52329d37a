"""Days counted from a day that was given before."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import Talker, talk
from tests.dialogue.english.grammar_replies import ask, said


def stay() -> Talker:
    """Today is Tuesday, December 2."""
    days = (
        SlotSpec("arrival", SlotKind.DATE, "When will you arrive?"),
        SlotSpec("departure", SlotKind.DATE, "And leave?"),
    )
    room = SlotSpec("wish", SlotKind.TEXT, "Any wishes?")
    return talk(Collect("a", "arrival"), Collect("b", "departure"), Collect("c", "wish"), slots=(*days, room))


@pytest.mark.req("D-04")
def test_the_same_day_is_the_one_that_was_given_before() -> None:
    back = ask(SlotKind.DATE, "When will you bring it back?", "return_date", since="2026-03-20", stays=True)
    assert said(back, "the same day") == "2026-03-20"
    assert said(ask(SlotKind.DATE), "the same day") is None


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
def test_a_corrected_day_is_counted_from_itself() -> None:
    assert stay().says("december 12", "no, the day after").slots == {"arrival": "2025-12-13"}
    talker = stay().says("december 12", "december 15", "actually two days later")
    assert talker.slots == {"arrival": "2025-12-12", "departure": "2025-12-17"}


def test_nights_are_never_added_to_their_last_day() -> None:
    talker = stay().says("december 12", "three nights", "no, two nights")
    assert talker.slots["departure"] == "2025-12-15"


@pytest.mark.parametrize("reply", ["the day after", "two days later", "the next day", "the Sunday after", "two nights"])
def test_without_an_earlier_day_there_is_nothing_to_count_from(reply: str) -> None:
    assert stay().says(reply).slots == {}
    assert said(ask(SlotKind.DATE), reply) is None


@pytest.mark.parametrize("reply", ["the day after Easter", "two days after the wedding", "the day after my birthday"])
def test_a_day_after_something_else_is_not_counted_from_the_other_day(reply: str) -> None:
    assert "departure" not in stay().says("december 12", reply).slots
