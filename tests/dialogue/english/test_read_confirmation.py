"""Replies to a confirmation: yes, no, a change."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import (
    Choice,
    Confirmation,
    Slot,
    SlotKind,
    SpokenCommand,
    Unclear,
    plain_answer,
    read_confirmation,
)
from tests.dialogue.english.grammar_replies import WEDNESDAY

ASKED = "So that's a court for two on Friday at 6 pm, is that right?"


def answer(reply: str) -> str | None:
    reading = read_confirmation(ASKED, reply, WEDNESDAY)
    return str(reading.answer) if isinstance(reading, Confirmation) else None


SUITE = "A suite on that date for 240 euros. Shall I change it?"


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("reply", "verdict"),
    {
        "yes": "yes",
        "Yep, that's right.": "yes",
        "That is correct, thank you very much": "yes",
        "sounds good to me": "yes",
        "perfect, go ahead": "yes",
        "exactly": "yes",
        "Sure, book it please": "yes",
        "that's what I want": "yes",
        "no problem": "yes",
        "no": "no",
        "nope, sorry": "no",
        "no thanks": "no",
        "no, that's not right": "no",
        "I don't want that": "no",
        "cancel that": "no",
        "No, at seven pm": "change",
        "no, make it three people": "change",
        "Actually, Saturday would be better": "change",
        "can we change it to 7 pm?": "change",
        "make it for four": "change",
        "wait, I need it on the 9th instead": "change",
        "no, the other court": "change",
        "yes, but is there parking?": None,
        "yes, how much is it?": None,
        "Great. What's the address?": None,
        "yes and tell me the price": None,
        "yes, a court for three": None,
        "uh-huh": "yes",
        "uh huh": "yes",
        "Mm-hmm": "yes",
        "mhm": "yes",
        "uh-uh": "no",
        "mm": None,
        "uh uh": None,
        "right?": None,
        "one second": None,
        "should I say yes": None,
        "that depends on the weather": None,
        "yes, hold on a moment": None,
        "let me think about it": None,
        "": None,
    }.items(),
)
def test_a_confirmation_as_people_answer_it(reply: str, verdict: str | None) -> None:
    assert answer(reply) == verdict


@pytest.mark.req("D-09")
def test_a_change_that_is_wholly_understood_brings_its_values() -> None:
    slots = (Slot("people", SlotKind.NUMBER), Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME))
    reading = read_confirmation(ASKED, "no, make it three people at 7 pm", WEDNESDAY, slots)
    assert isinstance(reading, Confirmation)
    assert {value.slot: value.value for value in reading.values} == {"people": 3, "time": "19:00"}
    denied = read_confirmation(ASKED, "no, not at 7 pm", WEDNESDAY, slots)
    assert isinstance(denied, Confirmation)
    assert denied.values == ()
    vague = read_confirmation(ASKED, "no, make it three people near the window", WEDNESDAY, slots)
    assert isinstance(vague, Confirmation)
    assert vague.values == ()


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("reply", "verdict"),
    {
        "cancel it": None,
        "please cancel that": None,
        "yes, cancel it": "yes",
        "okay, go ahead and cancel the court": "yes",
        "no, don't cancel it": "no",
        "please do not cancel it": "no",
        "no, not Friday": "change",
        "never mind": "no",
    }.items(),
)
def test_cancel_after_shall_i_cancel_may_be_a_yes_and_never_drops_the_question(reply: str, verdict: str | None) -> None:
    reading = read_confirmation("You have a court on Friday. Shall I cancel it?", reply, WEDNESDAY)
    assert (str(reading.answer) if isinstance(reading, Confirmation) else None) == verdict


def test_an_order_confirms_only_the_verb_that_was_asked_about() -> None:
    asked = "A court for two on Friday. Shall I book it?"
    told = [read_confirmation(asked, reply, WEDNESDAY) for reply in ("book it", "please book that", "send it")]
    assert [isinstance(reading, Confirmation) for reading in told] == [True, True, False]


def test_a_command_at_a_confirmation() -> None:
    assert read_confirmation(ASKED, "say that again", WEDNESDAY) == SpokenCommand("repeat")
    assert isinstance(read_confirmation(ASKED, "yes " * 400, WEDNESDAY), Unclear)


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("reply", "verdict"),
    {
        "yes mate": "yes",
        "right, do it, I'm in a hurry": "yes",
        "why not, my friend": "yes",
        "hmm": None,
        "wait": None,
        "well": None,
        "huh": None,
        "maybe": None,
        "I guess so": None,
        "yes but": None,
        "are you sure": None,
        "is that right": None,
        "really good?": None,
        "good question": None,
        "let me check": None,
        "yes for three": None,
        "yes, outside": None,
        "yeah no": None,
        "not sure": None,
        "sorry": None,
        "that's not right, my friend": "no",
        "absolutely not": "no",
        "that's wrong": "no",
        "hell no": "no",
        "": None,
    }.items(),
)
def test_a_plain_answer_has_to_say_yes_or_no_explicitly(reply: str, verdict: str | None) -> None:
    slots = (Slot("place", SlotKind.CHOICE, choices=(Choice("inside"), Choice("outside"))),)
    assert plain_answer(ASKED, reply, WEDNESDAY, slots) == verdict


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "reply",
    [
        "suite",  # past bug: it had the stem of "that suits me"
        "correct the date",
        "please correct my date",
        "almost right",
        "that's mostly correct",
        "half right",
        "definitely maybe",
        "that would work if",
        "that's enough",
        "leave it as it is",
    ],
)
def test_what_only_sounds_like_a_yes_is_not_a_yes(reply: str) -> None:
    reading = read_confirmation(SUITE, reply, WEDNESDAY)
    assert not isinstance(reading, Confirmation)
    assert plain_answer(SUITE, reply, WEDNESDAY) is None


@pytest.mark.parametrize("reply", ["that's correct", "correct", "yes, it is", "that suits me", "correct, thanks"])
def test_a_yes_with_other_words_is_a_yes(reply: str) -> None:
    reading = read_confirmation(SUITE, reply, WEDNESDAY)
    assert isinstance(reading, Confirmation)
    assert reading.answer == "yes"


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("reply", "meant"),
    {
        "that's the plan": "yes",
        "you nailed it, thanks": "yes",
        "that is fine with me too": "yes",
        "yes, thanks a lot": "yes",
        "hold on, make it four people": "change",
        "that's not right, because I need it for four people": "change",
        "I would like a court for three": "change",
        "book a court in the garden": "change",
        "I would like to": None,
        "it is for my mother": None,
        "hold on": None,
    }.items(),
)
def test_indirect_answers_to_a_confirmation(reply: str, meant: str | None) -> None:
    assert answer(reply) == meant
