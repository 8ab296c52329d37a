"""Replies to a confirmation that seem to change something, but were not understood otherwise."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import OTHER, Talker, number, talk

SLOTS = (
    SlotSpec("place", SlotKind.TEXT, "Where to?", label="address"),
    SlotSpec("day", SlotKind.DATE, "Which day?"),
    SlotSpec("payer", SlotKind.NAME, "Who pays?", label="name"),
    number("crates"),
)
TEXT = "{crates} crates to {place} on {day} for {payer}. Right?"


def confirming() -> Talker:
    steps = [Collect(spec.name, spec.name) for spec in SLOTS]
    act = PerformAction("send", "send", tuple(spec.name for spec in SLOTS))
    talker = talk(*steps, Confirm("sure", TEXT), act, slots=SLOTS)
    talker.says("Unit 5, 31 Quay Road")
    talker = talker.means() if talker.asked_nlu else talker
    return talker.says("December 9", "Olga Renn", "seven")


def heard(text: str) -> Talker:
    talker = confirming().says(text)
    return talker.means() if talker.asked_nlu else talker


@pytest.mark.req("D-07")
def test_a_text_of_which_some_words_are_said_again_is_asked_for_again() -> None:
    talker = heard("hmm hold up that's unit 15 rather, quay road gate")
    assert talker.said == "Let me take the address again. Where to?"
    assert talker.slots.get("place") is None
    assert talker.runs == []


@pytest.mark.req("D-07")
def test_a_named_slot_that_is_denied_is_asked_for_again() -> None:
    talker = heard("the crates never came to that, my brother miscounted")
    assert talker.said == "Let me take the crates again. crates?"


@pytest.mark.req("D-07")
def test_a_new_value_is_offered_beside_the_old_one() -> None:
    talker = heard("that's the old plan, they want Thursday over there")
    assert talker.said == "Did you mean December 9 or December 4?"
    assert talker.says("the fourth").slots["day"] == "2025-12-04"
    assert talker.phase == "confirming"


@pytest.mark.req("D-08")
def test_after_a_yes_only_the_rest_was_not_understood() -> None:
    talker = heard("yes but tell the driver the bell is broken")
    assert talker.said.startswith("I didn't get what you said after the yes. 7 crates to")
    assert (talker.phase, talker.runs) == ("confirming", [])
    assert talker.says("yes").runs


@pytest.mark.req("D-07")
def test_words_of_a_correction_without_a_value_ask_what_to_change() -> None:
    assert heard("no hang on, my sister has other ideas about it").said == "All right. What should I change?"


@pytest.mark.parametrize("text", [OTHER, "it's terribly windy out there", "is Quay Road far from the harbour"])
def test_other_replies_change_nothing(text: str) -> None:
    before = confirming().slots
    talker = heard(text)
    assert (talker.slots, talker.phase, talker.runs) == (before, "confirming", [])


@pytest.mark.req("D-12")
def test_a_confirmation_that_is_never_understood_ends() -> None:
    talker = confirming()
    for _ in range(talker.domain.tries_max + 1):
        talker = talker.says("yes but tell the driver the bell is broken")
        talker = talker.means() if talker.asked_nlu else talker
    assert (talker.phase, talker.runs) == ("idle", [])
