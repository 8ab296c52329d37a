"""Answers with a reason."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from tests.dialogue.english.grammar_replies import ask, named, said

COUNT = ask(SlotKind.NUMBER, "How many tickets do you need?", "tickets")
DAY = ask(SlotKind.DATE, "Which day?", "day")
TIME = ask(SlotKind.TIME, "What time?", "time")
PLACE = named("Oakland", "Springfield")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("question", "reply", "value"),
    [
        (COUNT, "my partner comes along, so two tickets", 2),
        (COUNT, "for me and two of my friends, so three in total", 3),
        (COUNT, "my brother can't make it so four", 4),
        (DAY, "I don't have to work then so let's say Friday", "2026-03-06"),
        (DAY, "on Friday because my dad drives me there", "2026-03-06"),
        (DAY, "Friday, so that I can rest afterwards", "2026-03-06"),
        (DAY, "I work until Thursday so Friday would be best", "2026-03-06"),
        (DAY, "tomorrow, because I'm away on Friday", "2026-03-05"),
        (TIME, "I'll come right after work so that would be 6 pm", "18:00"),
        (PLACE, "my sister moved away so let's try Oakland", "Oakland"),
    ],
)
def test_the_answer_counts_and_its_reason_does_not(question: object, reply: str, value: object) -> None:
    assert said(question, reply) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        (COUNT, "there are three of us, so two"),
        (COUNT, "if my brother comes along, so two"),
        (DAY, "I'm away on Friday, so not Friday"),
        (TIME, "6 pm because I leave on Monday"),
        (TIME, "so much to do, so 6 pm or 7 pm"),
        (PLACE, "I'm tired so surprise me"),
    ],
)
def test_a_reason_with_a_value_or_a_condition_is_for_nlu(question: object, reply: str) -> None:
    assert not isinstance(said(question, reply), int | str)  # type: ignore[arg-type]
