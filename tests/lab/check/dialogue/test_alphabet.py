"""The events that the explorer tries."""

from __future__ import annotations

from dataclasses import replace

from duologue.dialogue.conditions import parse
from duologue.dialogue.english import SlotKind
from duologue.dialogue.events import NothingSaid, Understood, UserMessage, Validated, WorkFailed
from duologue.dialogue.flow import Collect, JumpUnless, SlotSpec
from duologue.dialogue.machine import row_for
from duologue.lab.check.dialogue.alphabet import Alphabet, alphabet_of, other_of, said_of, value_of
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import TRANSFER, at_amount, number


def texts_for(alphabet: Alphabet, talker_state: object) -> set[str]:
    return {event.text for event in alphabet.person(talker_state) if isinstance(event, UserMessage)}  # type: ignore[arg-type]


def test_every_kind_of_slot_has_two_answers_with_different_values() -> None:
    for kind in SlotKind:
        spec = SlotSpec("slot", kind, "?", choices=number("x").choices)
        if kind in (SlotKind.CHOICE, SlotKind.LIST):  # their answers come from their choices and items
            continue
        one, other = said_of(spec)
        assert value_of(spec, one) != value_of(spec, other), kind
        assert value_of(spec, other_of(spec, value_of(spec, one))) != value_of(spec, one), kind


def test_an_open_question_gets_answers_corrections_commands_and_silence() -> None:
    alphabet, state = alphabet_of(TRANSFER), at_amount().state
    texts = texts_for(alphabet, state)
    assert {*said_of(TRANSFER.slots["amount"]), "cancel", "yes"} <= texts
    assert any(text.startswith("change the to to ") for text in texts)
    assert NothingSaid(0) in list(alphabet.person(state))


def test_a_running_request_gets_every_kind_of_result_and_stale_ones_never_fit() -> None:
    alphabet, talker = alphabet_of(TRANSFER), at_amount().says("fifty")
    kinds = {type(event) for event in alphabet.workers(talker.state)}
    assert {Validated, WorkFailed} <= kinds
    assert Understood not in kinds
    assert all(row_for(talker.state, event) is None for event in alphabet.stale() if hasattr(event, "request"))


def test_values_on_both_sides_of_a_condition_are_said() -> None:
    program = (Collect("a", "amount"), JumpUnless("b", parse("amount > 40"), 2))
    about = domain(flow("task", *program), slots=(number("amount"),))
    state = replace(at_amount().state, stack=(), waiting_for="amount")
    said = {int(text) for text in texts_for(alphabet_of(about), state) if text.isdigit()}
    assert any(value > 40 for value in said)
    assert any(value <= 40 for value in said)
