"""The draft of a state: moving arms and disarms deadlines, a pause turns them into remaining times."""

from __future__ import annotations

import pytest

from duologue.core.draft import Draft
from duologue.core.effects import CloseSession, SaveContext
from duologue.core.leaves import TIMER_INDEX, JobKind, Link, Timer, User
from duologue.core.machine import MACHINE
from duologue.core.settings import profile
from duologue.core.state import JobRecord, initial

NOW = 10_000


def draft() -> Draft:
    """A draft of a conversation that is up, at 10 s."""
    return Draft(initial(profile("confirm"))._replace(link=Link.UP), MACHINE.owners, NOW)


def due(d: Draft, timer: Timer) -> int:
    return d.due[TIMER_INDEX[timer]]


def test_a_draft_that_changes_nothing_builds_the_same_state_at_its_own_time() -> None:
    d = draft()
    assert d.build() == d.before._replace(at=NOW)


def test_a_state_that_was_built_does_not_change_with_its_draft() -> None:
    d = draft()
    built = d.build()
    d.arm(Timer.BEAT, 5)
    d.turn += 1
    assert built == d.before._replace(at=NOW)


def test_a_move_arms_the_deadlines_of_the_new_leaf_and_disarms_those_of_the_old_one() -> None:
    d = draft()
    d.move(User.TALKING)
    assert due(d, Timer.TALK) == NOW + d.settings.talk_ms_max
    d.move(User.SETTLING)
    assert due(d, Timer.SETTLE) == NOW + d.settings.noise_ms_max
    assert due(d, Timer.TALK) == NOW + d.settings.talk_ms_max, "it holds for the whole turn"
    d.move(User.QUIET)
    assert due(d, Timer.TALK) == due(d, Timer.SETTLE) == 0


def test_a_move_to_the_same_leaf_leaves_its_deadline_alone() -> None:
    d = draft()
    d.move(User.TALKING)
    d.arm(Timer.TALK, 7)
    d.move(User.TALKING)
    assert due(d, Timer.TALK) == NOW + 7


@pytest.mark.parametrize(("left_ms", "remains"), [(400, 400), (0, 1), (-50, 1)])
def test_a_pause_keeps_the_remaining_time_of_deadlines_and_jobs(left_ms: int, remains: int) -> None:
    d = draft()
    d.arm(Timer.STALL, left_ms or 1)
    d.due[TIMER_INDEX[Timer.STALL]] = NOW + left_ms
    d.put_job(JobRecord(1, JobKind.TOOL, False, NOW + left_ms))
    d.move(Link.SUSPENDED)
    assert due(d, Timer.STALL) == d.jobs[0].due == remains
    assert d.jobs[0].heartbeat_due == 0, "a deadline that is off stays off"
    d.at += 5_000
    d.move(Link.UP)
    assert due(d, Timer.STALL) == d.jobs[0].due == d.at + remains


def test_a_deadline_that_is_armed_in_a_pause_has_its_whole_time_after_it() -> None:
    d = draft()
    d.move(Link.SUSPENDED)
    d.arm(Timer.BEAT, 30)
    d.arm(Timer.SUSPEND, 40)
    assert due(d, Timer.BEAT) == 30
    assert due(d, Timer.SUSPEND) == NOW + 40, "the pause's own limit goes on"
    assert d.now() == 0


def test_a_duration_of_zero_turns_a_deadline_off() -> None:
    d = draft()
    d.arm(Timer.DEAD_AIR, 5)
    d.arm(Timer.DEAD_AIR, 0)
    assert due(d, Timer.DEAD_AIR) == 0


def test_shortening_never_makes_a_deadline_later() -> None:
    d = draft()
    d.arm(Timer.DISMISS, 100)
    d.shorten(Timer.DISMISS, 500)
    assert due(d, Timer.DISMISS) == NOW + 100
    d.shorten(Timer.DISMISS, 1)
    assert due(d, Timer.DISMISS) == NOW + 1


def test_jobs_stay_in_the_order_of_their_calls() -> None:
    d = draft()
    for call in (3, 1, 2):
        d.put_job(JobRecord(call, JobKind.TOOL, False, 5))
    d.amend_job(2, stage=1)
    d.drop_job(1)
    assert [(job.call, job.stage) for job in d.jobs] == [(2, 1), (3, 0)]


def test_a_job_that_is_delegated_later_keeps_the_feedback_that_its_call_had() -> None:
    d = draft()
    d.set_job(JobRecord(1, JobKind.ABSENT, False, 0), JobKind.TOOL)
    assert d.jobs[0].feedback_due == NOW + d.settings.feedback_ms[0]
    d.at += 1_000
    d.set_job(d.jobs[0], JobKind.DELEGATED)
    assert d.jobs[0].feedback_due == NOW + d.settings.feedback_ms[0]
    assert d.jobs[0].due == d.at + d.settings.delegate_ms_max
    d.set_job(d.jobs[0], JobKind.ABSENT)
    assert d.jobs == ()


def test_effects_are_performed_in_the_order_in_which_they_were_emitted() -> None:
    d = draft()
    d.emit(SaveContext())
    d.emit(CloseSession(1))
    assert d.effects == [SaveContext(), CloseSession(1)]
