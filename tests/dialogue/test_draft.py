"""The draft of a step: unknown moves raise, and the state is saved in time."""

from __future__ import annotations

import pytest

from duologue.dialogue import draft
from duologue.dialogue.draft import UnknownMove
from duologue.dialogue.effects import Save
from duologue.dialogue.events import UserMessage
from duologue.dialogue.machine import step
from duologue.dialogue.matrix import MATRIX
from duologue.dialogue.state import Phase
from duologue.lab.check.dialogue.check import DialogueExplorer
from duologue.lab.check.dialogue.domains import TABLE
from tests.dialogue.dialogue_flows import (
    TODAY,
    TRANSFER,
    at_confirmation,
)


@pytest.mark.req("D-13")
def test_the_state_is_saved_after_each_change_and_before_an_action() -> None:
    talker = at_confirmation()
    assert isinstance(talker.effects[0], Save)
    assert {"transition", "step", "response"} == set(talker.effects[0].reasons)
    talker.says("yes")
    assert isinstance(talker.effects[0], Save)
    assert {"before_action", "transition", "response", "step"} == set(talker.effects[0].reasons)


YES = UserMessage("yes", 7, TODAY)
LACKS_A_MOVE = MATRIX - {(Phase.CONFIRMING, Phase.EXECUTING_ACTION)}


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that makes a move which its table lacks."""
    monkeypatch.setattr(draft, "MATRIX", LACKS_A_MOVE)


@pytest.mark.usefixtures("broken")
def test_a_move_that_the_table_lacks_raises_in_step_and_in_the_explorer() -> None:
    with pytest.raises(UnknownMove):
        step(TRANSFER, at_confirmation().state, YES)
    found = DialogueExplorer("broken", TABLE).run(states_max=600)
    assert "a step never raises" in {one.law for one in found.violations}
