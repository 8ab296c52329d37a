"""One step as the laws see it."""

from __future__ import annotations

from dataclasses import replace

from duologue.dialogue.events import DialogueEvent, UserMessage
from duologue.dialogue.machine import step
from duologue.dialogue.state import Phase
from duologue.lab.check.dialogue.observed_step import ObservedStep, changed_in, dependants, used_by
from tests.dialogue.dialogue_flows import TODAY, TRANSFER, Talker, at_amount, at_confirmation


def observed(talker: Talker, event: DialogueEvent) -> ObservedStep:
    before = replace(talker.state, trace=())
    return ObservedStep(TRANSFER, before, event, *step(TRANSFER, before, event))


def test_a_yes_is_seen_with_its_move_and_its_run() -> None:
    seen = observed(at_confirmation(), UserMessage("yes", 0, TODAY))
    assert seen.confirmed == ["sure"]
    assert seen.moves == [(Phase.CONFIRMING, Phase.EXECUTING_ACTION)]
    assert [run.action for run in seen.runs] == [one.action for one in seen.requests if one in seen.runs] == ["send"]
    assert [said.text for said in seen.said] == ["One moment."]


def test_commands_in_words_are_recognised() -> None:
    assert observed(at_amount(), UserMessage("go back", 0, TODAY)).goes_back
    assert observed(at_amount(), UserMessage("start over", 0, TODAY)).restarts
    plain = observed(at_amount(), UserMessage("fifty", 0, TODAY))
    assert not plain.goes_back
    assert not plain.restarts


def test_a_flow_that_ended_has_no_state_after_the_step() -> None:
    seen = observed(at_confirmation(), UserMessage("cancel", 0, TODAY))
    ((before, after),) = seen.pairs()
    assert (before.flow, after) == ("transfer", None)


def test_changes_and_dependants_are_found() -> None:
    seen = observed(at_amount(), UserMessage("change the to to Bob", 0, TODAY))
    ((before, after),) = seen.pairs()
    assert after is not None
    assert changed_in(before, after) == {"to", "account"}
    assert dependants(TRANSFER, {"to"}) == {"account"}


def test_an_action_uses_only_its_slots() -> None:
    seen = observed(at_confirmation(), UserMessage("yes", 0, TODAY))
    at, top = TRANSFER.flows["transfer"].program[6], seen.after.top
    assert top is not None
    assert used_by(at, top) == {"to": "Anna", "account": "AB12", "amount": 50}  # type: ignore[arg-type]
    assert used_by(replace(at, slots=("to",)), top) == {"to": "Anna"}  # type: ignore[arg-type]
