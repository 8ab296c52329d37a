"""The history of a view: its state, the previous one, and its last transitions."""

from __future__ import annotations

from typing import Any

import pytest

from duologue import Agent
from duologue.core import events as ev
from duologue.core.leaves import Timer
from duologue.core.views import CONVERSATION, PHASE, View
from duologue.lab.sim.stage import Stage
from duologue.observe import signals as sg
from duologue.observe.view_history import TRANSITIONS_MAX, ViewHistory, cause_of
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


# -- One view


def follow(stage: Stage, view: View = CONVERSATION, language: str = "en") -> tuple[ViewHistory, list[sg.Signal]]:
    history = ViewHistory(view, stage.records[0].before, lambda: {"turn": 1}, language)
    sent = [signal for record in stage.records for signal in history.follow(record.event, record.after)]
    return history, sent


def test_a_history_knows_the_state_the_previous_one_and_since_when() -> None:
    stage = Stage()
    stage.start()
    stage.say()
    history, _ = follow(stage)
    assert (history.state, history.previous, history.entered_at) == ("processing", "listening", stage.at)


def test_a_history_that_begins_in_mid_call_counts_its_first_state_from_there() -> None:
    stage = Stage()
    stage.start()
    stage.wait(5_000)
    stage.begin_talking()
    restored = ViewHistory(PHASE, stage.state, dict)
    assert restored.entered_at == stage.at == 5_000


def test_a_transition_is_three_signals_with_duration_cause_and_label() -> None:
    stage = Stage()
    stage.start()
    stage.say()
    _, sent = follow(stage, PHASE, "de")
    exited, moved, entered = sent[-3:]
    assert exited == sg.StateExited(stage.at, "phase", "user_speaking", stage.at)
    assert moved == sg.Transitioned(stage.at, "phase", "user_speaking", "thinking", "TurnEnded")
    assert entered == sg.StateEntered(stage.at, "phase", "thinking", "Ich denke nach", {"turn": 1})


def test_a_step_that_leaves_the_state_as_it_is_sends_nothing() -> None:
    stage = Stage()
    stage.start()
    history, _ = follow(stage)
    stage.begin_talking()
    last = stage.records[-1]
    assert history.follow(last.event, last.after) == ()


@pytest.mark.req("C-CON-003.kept")
def test_the_last_twenty_transitions_are_stored() -> None:
    stage = Stage()
    stage.start()
    for _ in range(10):
        stage.say()
        stage.answer()
        stage.wait(100)
    history, sent = follow(stage)
    moves = [signal for signal in sent if isinstance(signal, sg.Transitioned)]
    assert len(moves) > TRANSITIONS_MAX == 20
    assert list(history.transitions) == moves[-20:]


def test_a_deadline_is_a_cause_by_the_name_of_its_timer() -> None:
    assert cause_of(ev.TimerFired(5, Timer.SETTLE, 5)) == "timer:settle"
    assert cause_of(ev.TurnEnded(5, 1, 1)) == "TurnEnded"
