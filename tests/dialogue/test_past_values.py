"""Dates and times that have passed are refused."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.events import UserMessage
from duologue.dialogue.flow import Collect, PerformAction, SlotSpec
from duologue.dialogue.state import Phase
from tests.dialogue.dialogue_flows import (
    SIZE,
    TODAY,
    talk,
)


@pytest.mark.req("D-06")
def test_a_day_that_has_passed_is_refused_before_its_validator_runs() -> None:
    day = SlotSpec("day", SlotKind.DATE, "Which day?", validator="free", is_future=True)
    talker = talk(Collect("day", "day"), slots=(day,)).says("yesterday")
    assert (talker.said, talker.state.waiting_for, talker.state.tries) == ("That day has passed. Which day?", "day", 1)
    assert talker.says("today").checks.value == TODAY


def test_a_correction_to_a_day_that_has_passed_leaves_the_old_one() -> None:
    day = SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True)
    talker = talk(Collect("day", "day"), Collect("size", "size"), slots=(day, SIZE)).says("tomorrow")
    talker.says("change the day to yesterday")
    assert talker.slots == {"day": "2025-12-03"}
    assert talker.said == "That day has passed. size?"


def test_a_slot_that_is_not_for_the_future_accepts_yesterday() -> None:
    talker = talk(Collect("day", "day"), slots=(SlotSpec("day", SlotKind.DATE, "Which day?"),)).says("yesterday")
    assert talker.state.phase is Phase.IDLE


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("texts", "slots"),
    [
        (("today", "at three pm"), {"day": "2026-03-04"}),
        (("today at three pm",), {"day": "2026-03-04"}),
        (("at three pm today",), {"day": "2026-03-04"}),
        (("tomorrow at three pm",), {"day": "2026-03-05", "time": "15:00"}),
        (("today at six pm",), {"day": "2026-03-04", "time": "18:00"}),
        (("yesterday",), {}),
    ],
)
def test_what_has_passed_is_refused_to_the_minute(texts: tuple[str, ...], slots: dict[str, str]) -> None:
    asked = (
        SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True),
        SlotSpec("time", SlotKind.TIME, "What time?", is_future=True),
    )
    talker = talk(Collect("day", "day"), Collect("time", "time"), PerformAction("book", "book"), slots=asked)
    for text in texts:
        talker.happen(UserMessage(text, 0, "2026-03-04T17:20"))
    assert talker.slots == slots
    assert bool(talker.runs) is (len(slots) == 2)


@pytest.mark.req("D-06")
def test_a_day_on_which_the_time_has_passed_is_refused() -> None:
    asked = (
        SlotSpec("time", SlotKind.TIME, "What time?", is_future=True),
        SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True),
    )
    talker = talk(Collect("time", "time"), Collect("day", "day"), PerformAction("book", "book"), slots=asked)
    for text in ("three pm", "today"):
        talker.happen(UserMessage(text, 0, "2026-03-04T17:20"))
    assert talker.said == "It's already later than that. Which day?"
    assert talker.happen(UserMessage("tomorrow", 0, "2026-03-04T17:20")).runs
