"""The result of NLU becomes commands."""

from __future__ import annotations

from duologue.dialogue.commands import SetSlot, StartFlow
from duologue.nlu.understanding import Quote, Understanding
from tests.flows.guessed_intents import understood
from tests.flows.partly_understood import heard_in_part


def test_a_request_for_another_flow_starts_it() -> None:
    assert heard_in_part("are you open for six people", understood("flow hours", "minilm")) == (StartFlow("hours"),)


def test_a_quote_of_a_language_model_becomes_a_value() -> None:
    quoted = Understanding((), True, 0.9, (Quote("people", "six"),), by="llm")
    (value,) = heard_in_part("six of us and my aunt", quoted)
    assert isinstance(value, SetSlot)
    assert (value.value, value.source) == (6, "llm")
