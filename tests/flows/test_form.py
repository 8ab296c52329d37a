"""A dialogue shown as a form."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import StartFlow
from duologue.dialogue.state import DialogueState
from duologue.flows.form import form_of
from tests.dialogue.dialogue_flows import TRANSFER, at_amount, at_confirmation


def test_without_an_open_flow_there_is_no_form() -> None:
    assert form_of(TRANSFER, DialogueState()) is None


def test_a_form_shows_filled_asked_and_empty_slots() -> None:
    form = form_of(TRANSFER, at_amount().state)
    assert form is not None
    shown = (form.flow, form.title, form.state, form.question)
    assert shown == ("transfer", "do transfer", "waiting_for_slot", "amount")
    assert [(slot.name, slot.value, slot.state) for slot in form.slots] == [
        ("to", "Anna", "filled"),
        ("account", "AB12", "filled"),
        ("amount", "", "asked"),
        ("reason", "", "empty"),
    ]


def test_a_yes_marks_the_values_of_its_question_as_confirmed() -> None:
    talker = at_confirmation()
    asking = form_of(TRANSFER, talker.state)
    assert asking is not None
    assert asking.question == ""
    form = form_of(TRANSFER, talker.says("yes").state)
    assert form is not None
    assert {slot.name: slot.state for slot in form.slots if slot.value} == {
        "to": "confirmed",
        "account": "filled",
        "amount": "confirmed",
    }


@pytest.mark.req("H-11.so")
def test_the_form_of_a_completed_flow_stays_with_its_results() -> None:
    form = form_of(TRANSFER, at_confirmation().says("yes").done(ref="T42").state)
    assert form is not None
    assert (form.flow, form.state, form.question) == ("transfer", "completed", None)
    assert [(slot.name, slot.state) for slot in form.slots] == [
        ("to", "confirmed"),
        ("account", "confirmed"),
        ("amount", "confirmed"),
        ("ref", "result"),
    ]
    assert form.slots[-1].value == "T42"


def test_the_next_flow_takes_the_place_of_a_completed_one() -> None:
    talker = at_confirmation().says("yes").done(ref="T42").says("some more money, please").means(StartFlow("transfer"))
    form = form_of(TRANSFER, talker.state)
    assert form is not None
    assert form.state == "waiting_for_slot"


def test_a_cancelled_flow_leaves_no_form() -> None:
    talker = at_amount().says("cancel")
    assert talker.state.top is None
    assert form_of(TRANSFER, talker.state) is None
