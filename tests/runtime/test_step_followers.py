"""The parts that are told about each step."""

from __future__ import annotations

import asyncio

from duologue.core.events import Event
from duologue.core.settings import Settings
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.runtime.step_followers import StepFollowers


def _record() -> StepRecord:
    s = initial(Settings())
    return StepRecord(Event(0), s, s, (), ())


def test_the_parts_are_told_in_the_order_in_which_they_were_given() -> None:
    told: list[str] = []
    followers = StepFollowers(
        lambda where, failure: None, second=lambda _: told.append("second"), first=lambda _: told.append("first")
    )
    followers.tell(_record())
    assert told == ["second", "first"]


def test_a_part_that_fails_is_reported_and_the_others_are_told() -> None:
    told: list[StepRecord] = []
    reported: list[tuple[str, str]] = []

    def fail(record: StepRecord) -> None:
        raise ValueError("no")

    def cancel(record: StepRecord) -> None:
        raise asyncio.CancelledError

    record = _record()
    followers = StepFollowers(
        lambda where, failure: reported.append((where, type(failure).__name__)),
        ears=fail,
        cues=cancel,
        usage=told.append,
    )
    followers.tell(record)
    assert reported == [("ears", "ValueError"), ("cues", "CancelledError")]
    assert told == [record]
