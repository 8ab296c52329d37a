"""Tokens, hesitations and pauses."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Confirmation, ConfirmationAnswer, Json, SlotKind, read_confirmation
from duologue.dialogue.english.tokens import tokens_of, without_hesitations
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, named, said


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        (SlotKind.DATE, "the, uh, fourteenth of um May", "2026-05-14"),
        (SlotKind.DATE, "the twenty uh first", "2026-03-21"),
        (SlotKind.DATE, "in er two weeks", "2026-03-18"),
        (SlotKind.TIME, "half, um, past six pm", "18:30"),
        (SlotKind.TIME, "six thirty uh pm", "18:30"),
        (SlotKind.NUMBER, "one hundred um and twenty", 120),  # past bug: 20
        (SlotKind.MONEY, "five uh euros", {"amount": 5, "currency": "EUR"}),
        (SlotKind.DURATION, "an hour um and a half", "PT1H30M"),
        (SlotKind.PHONE, "zero seven seven zero zero um nine zero zero uh one two three", "07700900123"),
        (SlotKind.CODE, "A B uh one two", "AB12"),
        (
            SlotKind.EMAIL,
            "anna uh dot k at um example dot com",
            "anna.k@example.com",
        ),
        (SlotKind.YES_NO, "well uh, yes", True),
    ],
)
def test_a_hesitation_is_never_part_of_a_value(kind: SlotKind, reply: str, value: Json) -> None:
    assert said(ask(kind), reply) == value


def test_a_name_is_stored_without_hesitations() -> None:
    assert said(ask(SlotKind.NAME, "What is your name?", "name"), "Anna, uh, Schmidt") == "Anna Schmidt"
    assert said(named("Boston", "New York"), "new uh york") == "New York"
    assert said(ask(SlotKind.CHOICE, choices=(Choice("blue"), Choice("dark blue"))), "dark uh blue") == "dark blue"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        (SlotKind.NUMBER, "twenty uh five"),  # 25, or five after all?
        (SlotKind.NUMBER, "two, uh, three"),
        (SlotKind.NUMBER, "one hundred well and twenty"),  # past bug: 20
        (SlotKind.TIME, "five uh fifteen pm"),
        (SlotKind.TIME, "six pm uh seven pm"),
        (SlotKind.DATE, "Monday uh Tuesday"),
        (SlotKind.DATE, "March third uh fourth"),
        (SlotKind.YES_NO, "yeah uh no"),
    ],
)
def test_two_values_with_a_hesitation_between_them_are_two(kind: SlotKind, reply: str) -> None:
    assert said(ask(kind), reply) is None


@pytest.mark.parametrize("reply", ["uh", "um, hmm"])
def test_a_hesitation_alone_answers_nothing(reply: str) -> None:
    assert tokens_of(reply)
    assert said(ask(SlotKind.YES_NO), reply) is None
    assert said(ask(SlotKind.NAME, "What is your name?", "name"), reply) is None


def test_commas_around_a_hesitation_are_dropped_and_other_marks_stay() -> None:
    assert [token.pause for token in tokens_of("March, um, third")] == ["", ""]
    assert [token.pause for token in tokens_of("no. uh, Friday")] == ["", "."]
    assert [token.pause for token in tokens_of("yes, uh Friday")] == ["", ","]
    assert without_hesitations("uh") == "uh"


@pytest.mark.req("D-09")
def test_a_hesitating_yes_is_a_yes() -> None:
    reading = read_confirmation("A table for four. Shall I book it?", "um, yes, uh, please", WEDNESDAY)
    assert reading == Confirmation(ConfirmationAnswer.YES)
