"""A mistake in the machine itself ends in an error that people can get out of, and is loud where we look for it."""

from __future__ import annotations

import pytest

from duologue.dialogue import draft, machine
from duologue.dialogue.draft import UnknownMove
from duologue.dialogue.effects import Respond
from duologue.dialogue.events import UserSaid
from duologue.dialogue.machine import guarded_step, step
from duologue.dialogue.matrix import MATRIX
from duologue.dialogue.state import DialogueState, Phase
from duologue.lab.check.dialogue.check import DialogueExplorer
from duologue.lab.check.dialogue.domains import TABLE
from tests.dialogue.dialogue_flows import TODAY, TRANSFER, Talker, at_amount, at_confirmation

YES = UserSaid("yes", 7, TODAY)
LACKS_A_MOVE = MATRIX - {(Phase.CONFIRMING, Phase.EXECUTING_ACTION)}


def words(effects: tuple[object, ...]) -> str:
    return " ".join(effect.text for effect in effects if isinstance(effect, Respond))


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that makes a move which its table lacks."""
    monkeypatch.setattr(draft, "MATRIX", LACKS_A_MOVE)


@pytest.mark.req("D-11", "D-12")
@pytest.mark.usefixtures("broken")
def test_a_move_that_the_table_lacks_is_an_error_with_recovery() -> None:
    # Once: AssertionError out of step, and the conversation was lost.
    state, effects = guarded_step(TRANSFER, at_confirmation().state, YES)
    assert state.phase is Phase.ERROR
    assert state.trouble is not None
    assert (state.trouble.type, state.trouble.recovery, state.trouble.at) == ("UnknownMove", Phase.CONFIRMING, 7)
    assert "confirming -> executing_action" in state.trouble.message
    assert words(effects) == "I encountered an error. Say retry to try again, or cancel."
    assert state.slots["amount"] == 50


@pytest.mark.req("D-11")
def test_after_a_mistake_a_retry_returns_to_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(draft, "MATRIX", LACKS_A_MOVE)
        state, _ = guarded_step(TRANSFER, at_confirmation().state, YES)
    talker = Talker(TRANSFER, state).says("retry")
    assert (talker.phase, talker.said) == ("confirming", "Send 50 to Anna?")
    assert talker.says("yes").phase == "executing_action"


def test_a_mistake_after_a_mistake_ends_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(d: object, text: str) -> None:
        raise KeyError(text)

    before = at_amount().state
    monkeypatch.setattr(machine, "answer", raises)
    monkeypatch.setattr(machine, "answer_error", raises)
    state, _ = guarded_step(TRANSFER, before, YES)
    assert state.phase is Phase.ERROR
    state, effects = guarded_step(TRANSFER, state, UserSaid("cancel", 8, TODAY))
    assert (state.phase, state.stack, words(effects)) == (
        Phase.IDLE,
        (),
        "I'm sorry, I could not get that. Let's leave it here.",
    )
    assert state.slots["to"] == "Anna"


def test_what_waited_does_not_bring_the_mistake_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(d: object, text: str) -> None:
        raise KeyError(text)

    monkeypatch.setattr(machine, "handle_queued_message", raises)
    talker = at_amount().says("fifty").says("and then")
    event = machine.Validated(talker.state.pending, 50, 9)
    state, _ = guarded_step(TRANSFER, talker.state, event)
    assert (state.phase, state.queue) == (Phase.ERROR, ())
    assert guarded_step(TRANSFER, state, UserSaid("retry", 10, TODAY))[0].phase is Phase.VALIDATING_SLOT


def test_retrying_with_nothing_open_gets_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(draft, "MATRIX", MATRIX - {(Phase.IDLE, Phase.UNDERSTANDING)})
        state, _ = guarded_step(TRANSFER, DialogueState(), UserSaid("hello", 1, TODAY))
    talker = Talker(TRANSFER, state).says("retry")
    assert talker.phase == "idle"
    assert talker.said


@pytest.mark.usefixtures("broken")
def test_where_we_look_for_mistakes_they_are_loud() -> None:
    with pytest.raises(UnknownMove):
        step(TRANSFER, at_confirmation().state, YES)
    found = DialogueExplorer("broken", TABLE).run(states_max=3_000)
    assert "a step never raises" in {one.law for one in found.violations}
