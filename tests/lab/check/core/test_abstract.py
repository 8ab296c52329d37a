"""The abstraction: states that behave the same become one state, and others stay apart."""

from __future__ import annotations

from duologue.core import events as ev
from duologue.core.leaves import TIMER_INDEX, Timer
from duologue.core.machine import MACHINE
from duologue.lab.check.core.abstract import abstract
from tests.core.scenes import asked, in_a_call, speaking, up


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
