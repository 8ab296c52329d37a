"""Deadlines: who owns them, how long they last, and that work isn't dead air."""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.core.deadlines import JOB_LIMITS, JOINT_LIMITS, LIMITS, DeadlineOwners, has_unowned_timer
from duologue.core.draft import Draft
from duologue.core.leaves import (
    TIMER_INDEX,
    JobKind,
    Timer,
    User,
)
from duologue.core.machine import MACHINE
from duologue.core.settings import profile
from duologue.core.state import JobRecord, next_deadline
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
def test_every_deadline_of_the_machine_is_in_the_table_except_for_the_cue() -> None:
    in_table = {limit.timer for limit in (*LIMITS, *JOINT_LIMITS)} | {Timer.JOB, Timer.HEARTBEAT, Timer.FEEDBACK}
    assert in_table == set(Timer) - {Timer.CUE}
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


def test_no_conversation_arms_a_deadline_that_its_state_does_not_own() -> None:
    stage = asked(dead_air_ms=10_000)
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.happen(ev.CallDispatched)
    stage.wait(60_000)
    assert not any(has_unowned_timer(record.after) for record in stage.records)


def test_a_deadline_that_no_leaf_owns_is_found() -> None:
    s = asked().state
    assert has_unowned_timer(s._replace(due=tuple(5 if timer is Timer.STALL else 0 for timer in Timer)))
    assert has_unowned_timer(s._replace(jobs=(JobRecord(1, JobKind.TOOL, False, 5, heartbeat_due=5),)))
    assert has_unowned_timer(s._replace(jobs=(JobRecord(1, JobKind.DISPATCHED, False, 5, feedback_due=5),)))


def test_a_deadline_of_several_leaves_goes_on_when_the_region_moves_between_them() -> None:
    moves = DeadlineOwners().moves
    ended, begun = moves[User.TALKING][User.SETTLING]
    assert TIMER_INDEX[Timer.TALK] not in ended
    assert [timer for timer, _ in begun] == [Timer.SETTLE]
    ended, _ = moves[User.SETTLING][User.QUIET]
    assert set(ended) == {TIMER_INDEX[timer] for timer in (Timer.TALK, Timer.COMMIT, Timer.SETTLE)}


def test_each_retry_and_each_attempt_to_reconnect_has_its_own_wait_and_the_last_one_repeats() -> None:
    waits = {limit.timer: limit.duration_ms for limit in LIMITS}
    d = Draft(asked(retry_ms=(10, 20), backoff_ms=(30, 40)).state, MACHINE.owners, 0)
    found = []
    for count in range(3):
        d.retries = d.attempts = count
        found.append((waits[Timer.RETRY](d), waits[Timer.BACKOFF](d)))
    assert found == [(10, 30), (20, 40), (20, 40)]
