"""The day that a time belongs to, and that later days are counted from."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.events import UserMessage
from duologue.dialogue.flow import Collect, PerformAction, SlotSpec
from duologue.dialogue.reference_day import slot_to_correct
from duologue.dialogue.state import Filled
from tests.dialogue.dialogue_flows import Talker, talk


@pytest.mark.req("D-04", "D-06")
def test_a_time_today_is_in_the_future_and_in_an_hour_gives_day_and_time() -> None:
    asked = (SlotSpec("day", SlotKind.DATE, "Which day?"), SlotSpec("time", SlotKind.TIME, "What time?"))
    program = (Collect("day", "day"), Collect("time", "time"), PerformAction("book", "book"))
    now = "2026-03-04T17:20"

    def hear(talker: Talker, text: str) -> Talker:
        return talker.happen(UserMessage(text, 0, now))

    talker = hear(hear(talk(*program, slots=asked), "today"), "at seven")
    assert talker.runs
    assert talker.slots == {"day": "2026-03-04", "time": "19:00"}
    talker = hear(hear(talk(*program, slots=asked), "tomorrow"), "at seven")
    assert talker.state.among == ("07:00", "19:00")
    talker = hear(talk(*program, slots=asked), "in an hour")
    assert talker.slots == {"day": "2026-03-04", "time": "18:20"}


def test_a_day_that_does_not_exist_is_no_reference_day() -> None:
    # Past bug: reading the next reply raised, because only the form of the date was checked.
    day = SlotSpec("day", SlotKind.DATE, "Which day?")
    assert slot_to_correct(day, Filled("2026-02-28")).since == "2026-02-28"
    for value in ("2026-02-30", "20260228", "soon", 5):
        assert slot_to_correct(day, Filled(value)).since == ""
