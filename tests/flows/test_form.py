"""A dialogue shown as a form."""

from __future__ import annotations

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
