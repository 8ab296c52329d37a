"""Values that a language model normalised: a perfect, a sloppy and a hostile one."""

from __future__ import annotations

import json

import pytest

from duologue.dialogue.commands import ChitChat, SetSlot
from duologue.dialogue.english import Json
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.flows import parse_flows
from duologue.flows.model_values import checked_value
from duologue.nlu.understanding import Guess, ModelValue, Quote, Understanding
from tests.flows.partly_understood import heard_in_part

FILE = """
version: 1
slots:
  day: {type: date, prompt: "?"}
  time: {type: time, prompt: "?"}
  count: {type: number, prompt: "?"}
  price: {type: money, prompt: "?"}
  member: {type: yes_no, prompt: "?"}
  size: {type: choice, prompt: "?", choices: [small, large]}
  city: {type: name, prompt: "?", names: [Boston, Denver], open: false}
  guest: {type: name, prompt: "?"}
  mail: {type: email, prompt: "?"}
  length: {type: duration, prompt: "?"}
flows: {f: {steps: [collect: day]}}
"""
SLOTS = parse_flows(FILE).slots
GOOD: dict[str, Json] = {
    "day": "2026-03-05",
    "time": "18:30",
    "count": 4,
    "price": {"amount": 20, "currency": "EUR"},
    "member": False,
    "size": "large",
    "city": "Boston",
    "guest": "Tom Price",
    "mail": "ann@example.com",
    "length": "PT1H30M",
}
BAD: dict[str, list[object]] = {
    "day": ["tomorrow", "2026-02-30", "5.3.2026", 20260305, ["2026-03-05"]],
    "time": ["25:00", "half past six", 18],
    "count": ["vier", True, None, {"count": 4}],
    "price": [20, {"amount": "20", "currency": "EUR"}, {"amount": -1, "currency": "EUR"}],
    "member": ["yes", 1],
    "size": ["gross", "Large one", 1],
    "city": ["Vienna"],
    "guest": ["", 5, "a" * 400, "Tom\x00"],
    "mail": ["ann at example"],
    "length": ["an hour", "P"],
}


@pytest.mark.req("D-17")
@pytest.mark.parametrize("slot", GOOD)
def test_a_value_in_the_form_of_its_slot_is_taken(slot: str) -> None:
    assert checked_value(SLOTS[slot], ModelValue(slot, json.dumps(GOOD[slot]))) == GOOD[slot]


@pytest.mark.req("D-17")
@pytest.mark.parametrize(("slot", "value"), [(slot, value) for slot, values in BAD.items() for value in values])
def test_a_value_of_another_form_is_dropped(slot: str, value: object) -> None:
    assert checked_value(SLOTS[slot], ModelValue(slot, json.dumps(value))) is None


@pytest.mark.req("D-17")
def test_a_normalised_value_helps_where_no_grammar_reads_the_words_and_is_announced() -> None:
    perfect = Understanding((), True, 0.9, values=(ModelValue("people", "5"),), by="llm")
    (value,) = heard_in_part("me, the wife, and our three little monsters", perfect)
    assert isinstance(value, SetSlot)
    assert (value.value, value.source) == (5, PICKED_OUT)


@pytest.mark.req("D-17")
def test_a_value_that_contradicts_the_quoted_words_is_not_taken() -> None:
    sloppy = Understanding((), True, 0.9, (Quote("people", "six"),), (ModelValue("people", "7"),), by="llm")
    assert 7 not in [one.value for one in heard_in_part("six of us and my aunt", sloppy) if isinstance(one, SetSlot)]


@pytest.mark.req("D-09", "D-17")
@pytest.mark.parametrize("text", ["no, don't", "are you sure?", "how much is it?", "let me think about it"])
def test_a_hostile_model_cannot_say_yes_for_the_user(text: str) -> None:
    hostile = Understanding((Guess("affirm", 1.0),), True, 1.0, by="llm")
    assert heard_in_part(text, hostile, waiting_for="nickname") == ()


@pytest.mark.req("D-17")
def test_an_answer_of_the_model_is_said_and_fills_nothing() -> None:
    found = Understanding((), False, 0.2, answer="The castle is 900 years old.", by="llm")
    assert heard_in_part("how old is it?", found) == (ChitChat("The castle is 900 years old."),)
