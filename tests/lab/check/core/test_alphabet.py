"""The alphabet: what an exploration tries in a state."""

from __future__ import annotations

from duologue.core.leaves import Timer
from duologue.core.machine import MACHINE, ROWS
from duologue.core.state import armed
from duologue.lab.check.core.abstract import abstract
from duologue.lab.check.core.alphabet import fresh, stale, timers
from duologue.lab.check.core.scopes import QUICK, CheckScope
from tests.core.scenes import asked, in_a_call, speaking, up

EVERYTHING = CheckScope("everything", lambda settings: settings, frozenset())


def test_every_kind_of_event_that_a_row_handles_is_tried() -> None:
    stage = in_a_call()
    stage.cough()
    state = abstract(stage.state)
    kinds = {type(event) for event in fresh(state, EVERYTHING)}
    handled = {trigger for row in ROWS for trigger in row.on if isinstance(trigger, type)}
    assert handled <= kinds


def test_every_armed_deadline_may_fire() -> None:
    state = abstract(asked().state)
    assert [event.timer for event in timers(state)] == [deadline.timer for deadline in armed(state)]
    assert Timer.ANSWER in {event.timer for event in timers(state)}


def test_a_scope_leaves_events_out() -> None:
    state = abstract(up().state)
    for scope in QUICK:
        assert not {type(event) for event in fresh(state, scope)} & scope.without


def test_fresh_events_change_something_and_stale_ones_do_not() -> None:
    for stage in (asked(), speaking(), in_a_call()):
        state = abstract(stage.state)
        assert any(MACHINE.advance(state, event) is not None for event in fresh(state, EVERYTHING))
        assert [event for event in stale(state) if MACHINE.advance(state, event) is not None] == []
