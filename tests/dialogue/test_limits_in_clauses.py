"""Limits and vague wishes among other words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import ANY, SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import choice, number, talk

TIME = SlotSpec("time", SlotKind.TIME, "What time?", hours=(8, 20))
DAY = SlotSpec("day", SlotKind.DATE, "Which day?", prefers="first")


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("slot", "text", "limit"),
    [
        (TIME, "In the morning, but not before nine", "in the morning, but not before nine"),
        (TIME, "after four, I work till half three", "after four"),
        (TIME, "any time after lunch", "any time after lunch"),
        (DAY, "any day after Thursday, his birthday is soon", "any day after Thursday"),
        (DAY, "any day but Friday", "any day but Friday"),
        (DAY, "any day except Tuesday and Thursday, my grandson comes", "any day except Tuesday and Thursday"),
        (DAY, "after my operation, so some time in January", "some time in January"),
        (number("weeks"), "as long as possible, it's thick", "as long as possible"),
    ],
)
def test_a_limit_among_other_words_is_repeated_and_the_question_asked_again(
    slot: SlotSpec, text: str, limit: str
) -> None:
    talker = talk(Collect(slot.name, slot.name), slots=(slot,)).says(text)
    assert (talker.said, talker.slots) == (f"All right, {limit}. {slot.prompt}", {})


def test_the_first_possible_day_becomes_one_question() -> None:
    talker = talk(Collect("day", "day"), slots=(DAY,)).says("as soon as possible, it's urgent")
    assert talker.said == "Did you mean December 2 or December 3?"
    assert talker.says("the second one").slots == {"day": "2025-12-03"}


@pytest.mark.parametrize("text", ["not Marco please, someone else", "anyone but Marco"])
def test_the_agent_asks_about_the_choices_that_are_left(text: str) -> None:
    stylist = choice("stylist", "Marco", "Aisha", "Joy")
    talker = talk(Collect("stylist", "stylist"), slots=(stylist,)).says(text)
    assert talker.said == "Did you mean Aisha or Joy?"


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["asap", "as quickly as you can, we're starving", "soon as possible please"])
def test_the_first_possible_time_is_left_out_if_the_time_is_optional(text: str) -> None:
    optional = replace(TIME, is_optional=True)
    talker = talk(Collect("time", "time"), Collect("weeks", "weeks"), slots=(optional, number("weeks"))).says(text)
    assert (talker.slots["time"], talker.said.endswith("weeks?")) == (ANY, True)
    required = talk(Collect("time", "time"), slots=(TIME,)).says(text)
    assert (required.slots, required.said.startswith("All right, ")) == ({}, True)
