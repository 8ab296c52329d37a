"""Which of the offered values the user picks."""

from __future__ import annotations

import pytest

from duologue.dialogue.english.offered_values import read_among
from duologue.dialogue.english.reply_context import ReplyContext
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.language.days import today_of
from duologue.dialogue.language.readings import Ambiguous, Direct, Json, Question, Slot, SlotKind

DAY, TIME = Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME)
DAYS = ("2026-03-09", "2026-03-10", "2026-03-11")


def context(slot: Slot, among: tuple[Json, ...], reply: str) -> ReplyContext:
    return ReplyContext(Question(slot, among=among), reply, tokens_of(reply), today_of("2026-03-04"))


@pytest.mark.parametrize(
    ("slot", "among", "reply", "value"),
    [
        (TIME, ("06:30", "18:30"), "in the evening", "18:30"),
        (TIME, ("06:30", "18:30"), "the first one", "06:30"),
        (DAY, DAYS, "tuesday", "2026-03-10"),
        (DAY, DAYS, "the last one", "2026-03-11"),
        (DAY, DAYS[:1], "yes", "2026-03-09"),
    ],
)
def test_one_of_them(slot: Slot, among: tuple[Json, ...], reply: str, value: str) -> None:
    reading = read_among(context(slot, among, reply))
    assert isinstance(reading, Direct)
    assert reading.value_of(slot.name) == value


def test_two_of_three_are_asked_about_again() -> None:
    reading = read_among(context(DAY, DAYS, "monday or tuesday"))
    assert isinstance(reading, Ambiguous)
    assert reading.candidates == DAYS[:2]


@pytest.mark.parametrize("reply", ["not the first one", "what a nice day", "the fifth one"])
def test_other_replies_pick_none(reply: str) -> None:
    assert read_among(context(DAY, DAYS, reply)) is None
