"""A day or a time that is shifted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import Json, SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from duologue.dialogue.shifted_values import shifted
from tests.dialogue.dialogue_flows import Talker, talk

SLOTS = (
    SlotSpec("day", SlotKind.DATE, "Which day?"),
    SlotSpec("time", SlotKind.TIME, "What time?"),
    SlotSpec("length", SlotKind.DURATION, "For how long?"),
)
STEPS = (
    Collect("a", "day"),
    Collect("b", "time"),
    Collect("c", "length"),
    Confirm("sure", "{day} at {time} for {length}?"),
    PerformAction("book", "book"),
)


def booking(*texts: str) -> Talker:
    return talk(*STEPS, slots=SLOTS).says("december 9", "15:00", "two hours", *texts)


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("text", "moment"),
    {
        "two weeks later": ("2025-12-23", "15:00"),
        "a day earlier please": ("2025-12-08", "15:00"),
        "push that back three quarters of an hour": ("2025-12-09", "15:45"),
        "bring it forward an hour and a half": ("2025-12-09", "13:30"),
        "no, twenty minutes later": ("2025-12-09", "15:20"),
        "yes but could we make it an hour earlier": ("2025-12-09", "14:00"),
        "make the day three days later": ("2025-12-12", "15:00"),
    }.items(),
)
def test_a_shift_at_a_confirmation_changes_the_day_or_time_and_asks_again(text: str, moment: tuple[str, str]) -> None:
    talker = booking(text)
    assert talker.slots == {"day": moment[0], "time": moment[1], "length": "PT2H"}
    assert (talker.runs, talker.asked_nlu, talker.said.endswith("?")) == ([], False, True)


@pytest.mark.parametrize(
    ("language", "text"), [("de", "nein, eine halbe Stunde später"), ("es", "media hora más tarde, por favor")]
)
def test_a_shift_is_understood_in_other_languages(language: str, text: str) -> None:
    talker = booking()
    talker.domain = replace(talker.domain, language=language)
    assert talker.says(text).slots["time"] == "15:30"


@pytest.mark.parametrize(
    "text",
    ["not an hour later", "I'll phone you an hour later", "twelve hours later", "what if it's an hour later", "later"],
)
def test_other_words_of_later_shift_nothing(text: str) -> None:
    talker = booking(text)
    assert talker.slots == {"day": "2025-12-09", "time": "15:00", "length": "PT2H"}
    assert talker.runs == []


def test_a_shift_that_fits_two_times_is_asked() -> None:
    end = SlotSpec("end", SlotKind.TIME, "Until when?", label="end")
    steps = (Collect("b", "time"), Collect("c", "end"), Confirm("sure", "{time} to {end}?"), PerformAction("go", "go"))
    talker = talk(*steps, slots=(*SLOTS, end)).says("15:00", "17:00", "an hour later")
    assert talker.slots == {"time": "15:00", "end": "17:00"}
    assert talker.said.startswith("I can't tell whether you mean the time or the end.")
    assert talker.says("make the end an hour later").slots == {"time": "15:00", "end": "18:00"}


def test_right_after_a_task_a_shift_asks_for_the_confirmation_again() -> None:
    talker = booking()
    talker.domain = replace(talker.domain, correctable_turns=2)
    talker.says("yes").done().says("half an hour later please")
    assert (talker.slots["time"], talker.runs) == ("15:30", [])
    assert talker.said.endswith("?")


@pytest.mark.parametrize(
    ("before", "kind", "length", "direction", "after"),
    [
        ("2025-12-30", SlotKind.DATE, "P1W", 1, "2026-01-06"),
        ("23:30", SlotKind.TIME, "PT1H", 1, None),
        ("09:00", SlotKind.TIME, "P1D", 1, None),
        ("2025-12-30", SlotKind.DATE, "PT2H", 1, None),
        ("9999-12-31", SlotKind.DATE, "P1D", 1, None),
        ("soon", SlotKind.TIME, "PT1H", -1, None),
        (4, SlotKind.NUMBER, "PT1H", 1, None),
    ],
)
def test_a_value_is_shifted_by_a_length_that_fits_it(
    before: Json, kind: SlotKind, length: Json, direction: int, after: Json
) -> None:
    assert shifted(before, kind, length, direction) == after
