"""A confirmation allows one run, and only for the values that it was given for."""

from __future__ import annotations

from dataclasses import replace

from duologue.dialogue.events import DialogueEvent, UserMessage
from duologue.dialogue.machine import step
from duologue.lab.check.dialogue.abstract import Given
from duologue.lab.check.dialogue.confirmed_once import account
from duologue.lab.check.dialogue.observed_step import ObservedStep
from tests.dialogue.dialogue_flows import TODAY, TRANSFER, Talker, at_confirmation

YES = UserMessage("yes", 0, TODAY)


def observed(talker: Talker, event: DialogueEvent) -> ObservedStep:
    before = replace(talker.state, trace=())
    return ObservedStep(TRANSFER, before, event, *step(TRANSFER, before, event))


def test_a_yes_is_used_up_by_the_run_that_it_allows() -> None:
    assert account(observed(at_confirmation(), YES), frozenset()) == (frozenset(), [])


def test_a_run_without_a_yes_is_reported() -> None:
    seen = observed(at_confirmation(), YES)
    silent = replace(seen, after=replace(seen.after, trace=()))
    assert account(silent, frozenset())[1] == ["send runs again without a new confirmation of sure"]


def test_a_yes_is_void_when_its_values_change() -> None:
    talker = at_confirmation()
    top = talker.state.top
    assert top is not None
    given: Given = frozenset({(top.id, "sure", "send")})
    assert account(observed(talker, UserMessage("help", 0, TODAY)), given)[0] == given
    assert account(observed(talker, UserMessage("change the to to Bob", 0, TODAY)), given)[0] == frozenset()
