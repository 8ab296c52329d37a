"""Times counted from now need the time of day, and never pass midnight."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.dialogue.english import Direct, Question, Slot, SlotKind, read

NOW = "2026-03-04T17:20"

TIME, DAY = Slot("time", SlotKind.TIME), Slot("day", SlotKind.DATE)


def values(asked: Slot, reply: str, *others: Slot, now: str = NOW) -> dict[str, Any]:
    reading = read(Question(asked, "When should it be?", others=others), reply, now)
    return {value.slot: value.value for value in reading.values} if isinstance(reading, Direct) else {}


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "time"),
    {
        "in half an hour": "17:50",
        "in an hour, please": "18:20",
        "in about twenty minutes": "17:40",
        "I need it in two hours": "19:20",
        "an hour and a half from now": "18:50",
        "in three quarters of an hour": "18:05",
        "about half an hour from now": "17:50",
        "in a half hour": "17:50",
        "in an hour's time": "18:20",
        "in an hour or so": "18:20",
        "in an hour and twenty minutes": "18:40",
        "in an hour twenty": "18:40",
        "right now": "17:20",
        "I need it right now": "17:20",
        "how about now": "17:20",
        "is now okay?": "17:20",
        "now, at seven pm": "19:00",
    }.items(),
)
def test_a_time_is_counted_from_now(reply: str, time: str) -> None:
    assert values(TIME, reply) == {"time": time}


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["in seven hours", "in two days", "in an hour or two", "in a moment", "for an hour"])
def test_a_time_that_is_not_today_is_left_for_a_question(reply: str) -> None:
    assert values(TIME, reply) == {}


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply",
    [
        "I'm at home now",
        "right now I'm at work",
        "it has landed now",
        "just now",
        "from now on",
        "in under an hour",
        "will it be here in an hour?",
    ],
)
def test_now_in_a_description_of_the_present_is_not_a_time(reply: str) -> None:
    assert values(TIME, reply) == {}


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["in half an hour", "an hour from now", "right now"])
def test_without_a_clock_nothing_is_guessed(reply: str) -> None:
    assert values(TIME, reply, now="2026-03-04") == {}


@pytest.mark.req("D-04")
@pytest.mark.parametrize(("asked", "other"), [(TIME, DAY), (DAY, TIME)])
@pytest.mark.parametrize("reply", ["in an hour", "today in an hour"])
def test_a_time_counted_from_now_is_today(asked: Slot, other: Slot, reply: str) -> None:
    assert values(asked, reply, other) == {"time": "18:20", "day": "2026-03-04"}


@pytest.mark.req("D-04")
def test_now_may_come_with_other_values() -> None:
    assert values(TIME, "now, for three people", Slot("people", SlotKind.NUMBER)) == {"time": "17:20", "people": 3}


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["in an hour", "right now"])
def test_a_time_counted_from_now_is_not_on_another_day(reply: str) -> None:
    assert values(Slot("time", SlotKind.TIME, since="2026-03-06"), reply) == {}
    assert values(Slot("time", SlotKind.TIME, since="2026-03-04"), reply) != {}


@pytest.mark.req("D-04")
def test_of_two_days_neither_is_taken_to_be_today() -> None:
    assert values(TIME, "in an hour", DAY, Slot("return_day", SlotKind.DATE)) == {"time": "18:20"}


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("day", "reply", "times"),
    [
        ("2026-03-04", "at seven", ["19:00"]),  # said at 17:20
        ("2026-03-04", "half past five", ["17:30"]),
        ("2026-03-04", "seven in the morning", ["07:00"]),  # as it was said, whatever the clock says
        ("2026-03-05", "at seven", ["07:00", "19:00"]),
        ("", "at seven", ["07:00", "19:00"]),
    ],
)
def test_of_two_times_of_today_the_one_that_has_passed_is_not_meant(day: str, reply: str, times: list[str]) -> None:
    reading = read(Question(Slot("time", SlotKind.TIME, since=day)), reply, NOW)
    found = [reading.value_of("time")] if isinstance(reading, Direct) else list(reading.candidates)  # type: ignore[union-attr]
    assert found == times


@pytest.mark.req("D-06")
@pytest.mark.parametrize(("reply", "day"), [("today at seven", "2026-03-04"), ("tonight at seven", "2026-03-04")])
def test_a_time_that_is_said_with_today_is_still_to_come(reply: str, day: str) -> None:
    assert values(TIME, reply, DAY) == {"time": "19:00", "day": day}
    assert values(TIME, "tomorrow at seven", DAY) == {}  # in the morning or in the evening
