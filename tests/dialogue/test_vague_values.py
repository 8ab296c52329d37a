"""Replies that limit a value without giving it."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import number, talk

TIME = SlotSpec("time", SlotKind.TIME, "What time?", hours=(8, 20))
DAY = SlotSpec("day", SlotKind.DATE, "Which day?", prefers="first")


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "said"),
    {
        "after four": "All right, after four. What time?",
        "uh, not before nine": "All right, not before nine. What time?",
        "between ten and twelve": "All right, between ten and twelve. What time?",
    }.items(),
)
def test_a_limit_is_repeated_and_the_question_asked_again(text: str, said: str) -> None:
    talker = talk(Collect("time", "time"), slots=(TIME,)).says(text)
    assert (talker.said, talker.slots, talker.asked_nlu) == (said, {}, False)
    assert talker.says("five").slots == {"time": "17:00"}


@pytest.mark.req("D-05")
def test_not_a_day_is_not_that_day() -> None:
    assert talk(Collect("day", "day"), slots=(DAY,)).says("not Monday").said == "All right, not Monday. Which day?"


@pytest.mark.req("D-06")
def test_two_alternatives_become_one_question() -> None:
    talker = talk(Collect("count", "count"), slots=(number("count"),)).says("2 or 3")
    assert talker.said == "Did you mean 2 or 3?"
    assert talker.says("3").slots == {"count": 3}


@pytest.mark.req("D-06")
def test_part_of_a_week_becomes_one_question_whatever_the_slot_prefers() -> None:
    talker = talk(Collect("day", "day"), slots=(DAY,)).says("early next week")
    assert talker.said == "Did you mean December 8, December 9 or December 10?"
    assert talker.says("Tuesday").slots == {"day": "2025-12-09"}


def test_a_limit_again_and_again_is_given_up() -> None:
    talker = talk(Collect("time", "time"), slots=(TIME,))
    for _ in range(4):
        if talker.state.stack:
            talker.says("after four")
    assert talker.phase == "idle"


@pytest.mark.req("D-06")
def test_one_of_several_values_may_be_excluded() -> None:
    talker = talk(Collect("day", "day"), slots=(DAY,)).says("early next week", "not Monday")
    assert talker.said == "Did you mean December 9 or December 10?"


@pytest.mark.req("D-06")
def test_two_of_several_values_narrow_the_question() -> None:
    talker = talk(Collect("day", "day"), slots=(DAY,)).says("next week", "Tuesday or Wednesday")
    assert talker.said == "Did you mean December 9 or December 10?"


@pytest.mark.req("D-07")
def test_make_it_friday_is_about_a_day_to_come() -> None:
    since = SlotSpec("since", SlotKind.DATE, "Since when?", is_past=True)
    steps = (Collect("since", "since"), Collect("count", "count"), Collect("day", "day"))
    talker = talk(*steps, slots=(DAY, since, number("count"))).says("yesterday", "tomorrow", "no, make it Friday")
    assert (talker.slots["day"], talker.slots["since"]) == ("2025-12-05", "2025-12-01")
