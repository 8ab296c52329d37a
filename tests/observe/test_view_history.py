"""The history of a view: its state, the previous one, and its last transitions."""

from __future__ import annotations

from typing import Any

import pytest

from duologue import Agent
from duologue.observe import signals as sg
from duologue.testing import Call, ScriptedBrain

# -- What a conversation sends


@pytest.mark.req("L-21", "C-REQ-010")
def test_states_are_announced_when_left_moved_and_entered_with_duration_cause_and_context() -> None:
    with Call(Agent(ScriptedBrain(["Right away."], first_ms=300))) as call:
        call.user("book it").settles()
    states: list[Any] = [signal for signal in call.signals if getattr(signal, "view", "") == "conversation"]
    assert [type(signal) for signal in states] == [sg.StateExited, sg.Transitioned, sg.StateEntered] * (
        len(states) // 3
    )
    for left, moved, entered in zip(states[::3], states[1::3], states[2::3], strict=True):
        assert left.at == moved.at == entered.at
        assert (left.state, entered.state) == (moved.source, moved.target)
        assert moved.cause
        assert {"session", "turn", "reply", "pending_calls", "last_error", "retries"} <= set(entered.context)
    for earlier, later in zip(states[2::3], states[3::3], strict=False):
        assert (later.state, later.duration_ms) == (earlier.state, later.at - earlier.at)
    waited = next(
        signal for signal in states if isinstance(signal, sg.StateExited) and signal.state == "waitingForCopilot"
    )
    assert waited.duration_ms == 300
