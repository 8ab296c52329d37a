"""Laws about states: a state that breaks one is reported by the name of the law."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.state import DialogueState, Phase, with_top
from duologue.lab.check.dialogue.state_laws import STATE_LAWS, name_of, state_complaints
from tests.dialogue.dialogue_flows import TRANSFER, at_amount, at_confirmation

ASKING, CONFIRMING = at_amount().state, at_confirmation().state
ACTING = at_confirmation().says("yes").state


def test_real_states_break_no_law() -> None:
    for state in (DialogueState(), ASKING, CONFIRMING, ACTING):
        assert list(state_complaints(TRANSFER, state)) == []


@pytest.mark.parametrize(
    ("state", "law", "message"),
    [
        (replace(DialogueState(), phase=Phase.COMPLETED), "never stuck", "the dialogue stays in completed"),
        (replace(ACTING, pending=0), "never stuck", "the phase is executing_action, but no request is running"),
        (replace(ASKING, waiting_for="to"), "the question fits the step", "to is awaited, but the step is amount"),
        (replace(ASKING, reading_back=True), "nothing is left over", "a read-back without a value"),
        (
            replace(CONFIRMING, among=("07:00",)),
            "candidates belong to the open question",
            "candidates without a question",
        ),
        (with_top(ACTING, slots=()), "an action has what its flow asked for", "send runs without to"),
        (replace(ASKING, misses=99), "everything is bounded", "99 misses, more than the limit of 1"),
        (
            replace(ASKING, stack=(*ASKING.stack, *ASKING.stack)),
            "a flow is started once",
            "a flow is open twice: transfer, transfer",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_state_is_reported(state: DialogueState, law: str, message: str) -> None:
    assert (law, message) in list(state_complaints(TRANSFER, state))


def test_a_law_can_be_left_out() -> None:
    bounded = next(law for law in STATE_LAWS if name_of(law) == "everything is bounded")
    state = replace(ASKING, misses=99)
    assert "everything is bounded" not in [law for law, _ in state_complaints(TRANSFER, state, without=(bounded,))]
