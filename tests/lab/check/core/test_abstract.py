"""The abstraction: states that behave the same become one state, and others stay apart."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import TIMER_INDEX, Timer
from duologue.core.machine import MACHINE
from duologue.core.settings import PROFILES
from duologue.core.state import State
from duologue.lab.check.core.abstract import AbstractChange, abstract
from duologue.lab.check.core.alphabet import fresh, timers
from duologue.lab.check.core.check import CoreExplorer
from tests.core.scenes import asked, in_a_call, speaking, up
from tests.lab.check.core.broken_machines import OVER, TALK


def test_abstract_states_stay_as_they_are() -> None:
    for stage in (up(), asked(), speaking(), in_a_call()):
        once = abstract(stage.state)
        assert abstract(once) == once


def test_times_ids_and_amounts_do_not_matter() -> None:
    early, late = speaking(heard_ms=200), speaking(heard_ms=200)
    late.finish()
    late.wait(5_000)
    late.say()
    late.think()
    late.speak(800)
    assert early.state != late.state
    assert abstract(early.state) == abstract(late.state)


def test_whether_something_was_heard_matters() -> None:
    assert abstract(speaking(heard_ms=0).state) != abstract(speaking(heard_ms=200).state)


def test_whether_a_deadline_is_armed_matters() -> None:
    state = speaking().state
    due = list(state.due)
    due[TIMER_INDEX[Timer.STALL]] = 0
    assert abstract(state._replace(due=tuple(due))) != abstract(state)


def test_the_order_of_turns_survives() -> None:
    stage = asked()
    stage.think()
    stage.begin_talking()
    found = abstract(stage.state)
    assert found.answered < found.asked == found.said < found.turn


def test_the_real_machine_runs_on_an_abstract_state() -> None:
    stage = asked()
    state = abstract(stage.state)
    after, _ = MACHINE.step(state, ev.ReplyAccepted(0, state.reply_id))
    stage.happen(ev.ReplyAccepted)
    assert abstract(after) == abstract(stage.state)


def difference(before: State, after: State) -> tuple[dict[int, Any], dict[int, int]]:
    """The fields and the due times that a step has changed."""
    due = State._fields.index("due")
    fields = {place: value for place, value in enumerate(after) if place != due and value != before[place]}
    return fields, {index: at for index, at in enumerate(after.due) if at != before.due[index]}


@pytest.mark.parametrize("scope", [OVER, TALK], ids=lambda scope: scope.name)
def test_a_change_of_an_abstract_state_leads_to_the_abstract_state(scope: Any) -> None:
    explorer = CoreExplorer(PROFILES["words"], scope, promised=())
    explorer.run(states_max=300)
    moved = 0
    for s in explorer.graph.states[::9]:
        for event in (*timers(s), *fresh(s, scope)):
            after = MACHINE.step(s, event)[0]
            if after is not s:
                moved += 1
                change = AbstractChange(*difference(s, after))
                assert change.apply(s, scope.late_turns) == abstract(after, scope.late_turns)
    assert moved > 300
