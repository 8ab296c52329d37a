"""Dates of birth that are read out as three numbers."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from tests.dialogue.english.grammar_replies import ask, said


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "twenty three four eighty four": "1984-04-23",
        "oh four twenty three nineteen eighty four": "1984-04-23",
        "23 04 1984": "1984-04-23",
        "twelve three eighty four": ["1984-12-03", "1984-03-12"],
        "twenty thirty eighty four": None,
        "twelve three": None,
    }.items(),
)
def test_three_numbers_are_a_date_of_birth(reply: str, day: str | list[str] | None) -> None:
    assert said(ask(SlotKind.DATE, "What is your date of birth?", is_past=True), reply) == day


@pytest.mark.req("D-05")
def test_three_numbers_are_not_any_other_date() -> None:
    assert said(ask(SlotKind.DATE, "When would you like to come?"), "twenty three four eighty four") is None
