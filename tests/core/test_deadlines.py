"""Deadlines: who owns them, how long they last, and that work isn't dead air."""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.core.deadlines import JOB_LIMITS, JOINT_LIMITS, LIMITS
from duologue.core.leaves import (
    Timer,
)
from duologue.core.settings import profile
from duologue.core.state import next_deadline
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, due, requests

# -- M-17: dead air and work


@pytest.mark.req("M-17", "V-07")
def test_a_dispatched_job_is_work_and_its_silence_is_not_dead_air() -> None:
    stage = asked(dead_air_ms=10_000)
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.wait(1)
    stage.answer()
    assert due(stage, Timer.DEAD_AIR) == 0
    told = len(requests(stage))
    stage.wait(600_000)
    assert len(requests(stage)) == told
    stage.happen(ev.CancelRequested)
    assert due(stage, Timer.DEAD_AIR) == stage.at + 10_000


# -- One table


@pytest.mark.req("L-23")
def test_every_deadline_of_the_machine_is_in_the_table() -> None:
    in_table = {limit.timer for limit in (*LIMITS, *JOINT_LIMITS)} | {Timer.JOB, Timer.HEARTBEAT, Timer.FEEDBACK}
    assert in_table == set(Timer)
    assert len(JOB_LIMITS) == 3


@pytest.mark.req("L-23")
@pytest.mark.parametrize(
    ("name", "timer"),
    [
        ("prepare_ms_max", Timer.PREPARE),
        ("close_ms_max", Timer.CLOSE),
        ("talk_ms_max", Timer.TALK),
        ("attempt_ms_max", Timer.ATTEMPT),
        ("stall_ms_max", Timer.STALL),
        ("heal_ms_max", Timer.HEAL),
        ("suspend_ms_max", Timer.SUSPEND),
        ("dead_air_ms", Timer.DEAD_AIR),
    ],
)
def test_a_changed_setting_changes_its_deadline(name: str, timer: Timer) -> None:
    scripts: dict[Timer, tuple[type[ev.Event], ...]] = {
        Timer.PREPARE: (ev.StartRequested,),
        Timer.CLOSE: (ev.StartRequested, ev.SessionReady, ev.EndRequested),
        Timer.TALK: (ev.StartRequested, ev.SessionReady, ev.SpeechStarted),
        Timer.ATTEMPT: (ev.StartRequested, ev.SessionReady, ev.TextTyped),
        Timer.STALL: (ev.StartRequested, ev.SessionReady, ev.TextTyped, ev.AudioBuffered),
        Timer.HEAL: (ev.StartRequested, ev.SessionReady, ev.LinkWobbled),
        Timer.SUSPEND: (ev.StartRequested, ev.SessionReady, ev.SuspendRequested),
        Timer.DEAD_AIR: (ev.StartRequested, ev.SessionReady),
    }
    stage = Stage(profile("confirm", **{name: 777}))
    for kind in scripts[timer]:
        stage.happen(kind)
    deadline = next_deadline(stage.state)
    assert deadline is not None
    assert (deadline.timer, deadline.due) == (timer, 777)
