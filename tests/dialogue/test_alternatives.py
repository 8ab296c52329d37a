"""Two values with an "or" between them."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import COLOUR, number, talk

TIME = SlotSpec("time", SlotKind.TIME, "What time?", hours=(8, 20))
DAY = SlotSpec("day", SlotKind.DATE, "Which day?", is_past=True, prefers="first")


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("slot", "text", "said"),
    [
        (TIME, "nine, or half past nine, after the school traffic", "Did you mean 9 am or 9:30 am?"),
        (TIME, "eleven or half past", "Did you mean 11 am or 11:30 am?"),
        (TIME, "my train is late, so three or four in the afternoon", "Did you mean 3 pm or 4 pm?"),
        (DAY, "yesterday or the day before, he only told me now", "Did you mean December 1 or November 30?"),
        (number("count"), "not sure, 45 or 50 thousand", "Did you mean 45000 or 50000?"),
        (number("count"), "around 45 or 50 thousand", "Did you mean 45000 or 50000?"),
        (number("count"), "two, well maybe three", "Did you mean 2 or 3?"),
        (number("count"), "three to four, depends on the doctor", "Did you mean 3 or 4?"),
        (COLOUR, "I do get muddled, red or blue I think", "Did you mean red or blue?"),
    ],
)
def test_two_alternatives_among_other_words_become_one_question(slot: SlotSpec, text: str, said: str) -> None:
    talker = talk(Collect(slot.name, slot.name), slots=(slot,)).says(text)
    assert (talker.said, talker.slots) == (said, {})


@pytest.mark.parametrize("text", ["nine, or something like that", "now or never", "is it nine or ten?"])
def test_one_value_is_no_alternative(text: str) -> None:
    talker = talk(Collect("time", "time"), slots=(TIME,)).says(text)
    assert "Did you mean" not in talker.said
