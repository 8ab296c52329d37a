"""Replies that give no value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SayText, SlotSpec
from tests.dialogue.dialogue_flows import COLOUR, Talker, number, talk

EMAIL = SlotSpec("email", SlotKind.EMAIL, "Your e-mail address?", help="We write to you.")
MILES = number("miles", help="A rough figure is fine.")
NONE = (
    "I don't have any e-mail, I'm eighty-four",
    "no email",
    "no idea, my son looks after that",
    "I'm terrible with these, I don't remember it",
    "I'd rather not give that out, sorry",
)


def asked(slot: SlotSpec) -> Talker:
    return talk(Collect(slot.name, slot.name), SayText("end", "Mail: {email}."), slots=(slot,))


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", NONE)
def test_a_question_without_an_answer_is_skipped_if_that_is_possible(text: str) -> None:
    assert asked(replace(EMAIL, is_optional=True)).says(text).said == "All right, we'll leave that out. Mail: none."


@pytest.mark.parametrize("text", NONE)
def test_a_required_value_is_asked_for_again_with_its_help(text: str) -> None:
    talker = asked(EMAIL).says(text)
    assert talker.said == "I need this one to go on. We write to you. Your e-mail address?"
    assert talker.says("no email").said == "I need this one to go on. Your e-mail address?"


def test_a_value_beside_the_doubt_is_not_thrown_away() -> None:
    assert asked(replace(MILES, is_optional=True)).says("no clue, maybe 60 thousand").slots == {"miles": 60_000}
    talker = asked(replace(MILES, is_optional=True)).says("I don't know, two or three hundred")
    assert talker.slots == {}
    assert "leave that out" not in talker.said


@pytest.mark.req("D-05")
def test_no_preference_may_have_a_reason() -> None:
    stylist = SlotSpec("email", SlotKind.NAME, "Who should do it?", is_optional=True)
    assert asked(stylist).says("I'm new here, whoever's free").slots == {"email": "dontcare"}


@pytest.mark.parametrize("text", ["forget it, it's too much trouble", "never mind, my dear"])
def test_a_command_in_one_clause_counts(text: str) -> None:
    assert asked(EMAIL).says(text).said == "All right, let's leave it."


def test_a_question_about_a_command_is_no_command() -> None:
    talker = asked(EMAIL).says("forget it, what can you do for me then?")
    assert talker.asked_nlu


def test_leave_it_leaves_out_an_optional_answer_and_ends_no_task() -> None:
    assert asked(replace(EMAIL, is_optional=True)).says("then leave it").said.startswith("All right, we'll leave that")
    assert asked(EMAIL).says("then leave it").said == "All right, let's leave it."


def test_a_question_about_an_optional_slot_is_told_that_it_may_be_left_out() -> None:
    slot = replace(EMAIL, is_optional=True, help="")
    talker = asked(slot).says("is it ok if I don't give that?").means()
    assert talker.said == "You can also leave that out. Your e-mail address?"


@pytest.mark.req("D-05")
def test_a_value_after_a_never_mind_cancels_nothing() -> None:
    talker = talk(Collect("c", "colour"), slots=(COLOUR,)).says("okay never mind we'll take the blue one")
    assert talker.phase != "idle"
