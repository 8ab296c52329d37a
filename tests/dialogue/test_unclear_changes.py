"""A change that may mean several values is asked about."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import Talker, choice, talk

DAY = SlotSpec("day", SlotKind.DATE, "Which day?")
DRINK = choice("drink", "tea", "coffee")


def ordered() -> Talker:
    """At the confirmation of a drink on Friday. Today is a Tuesday."""
    return talk(
        Collect("a", "drink"),
        Collect("b", "day"),
        Confirm("sure", "{drink} on {day}?"),
        PerformAction("go", "go"),
        slots=(DAY, DRINK),
    ).says("tea", "on Friday")


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "text", ["no, tuesday", "actually tuesday would suit my sister better", "change the day to tuesday", "day, tuesday"]
)
def test_the_weekday_of_today_is_asked_about_and_then_changed(text: str) -> None:
    talker = ordered().says(text)
    assert talker.said == "Did you mean December 2 or December 9?"
    assert talker.says("the second one").said == "tea on December 9?"


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["yes, and a coffee too", "yes and I also want coffee"])
def test_a_second_value_does_not_replace_the_first(text: str) -> None:
    talker = ordered().says(text)
    assert talker.said == "I can take only one drink. Did you mean tea or coffee?"
    assert talker.says("no, I want both!").said == "I can take only one drink. Did you mean tea or coffee?"
    assert talker.says("coffee").said == "coffee on December 5?"


def test_a_cancellation_at_such_a_question_cancels() -> None:
    assert ordered().says("no, tuesday", "cancel that").phase == "idle"
