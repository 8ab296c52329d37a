"""A pause lasts until a person ends it, and a renewal of the session can't be heard."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Link, Timer
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, due, requests, speaking, up

T = Timer
DAY_MS = 24 * 3_600_000


# -- A pause


@pytest.mark.req("M-07.lasts")
def test_a_pause_has_no_limit() -> None:
    stage = up(session_ms_max=0, session_warning_ms=0)
    stage.happen(ev.SuspendRequested)
    assert due(stage, T.SUSPEND) == 0
    stage.wait(DAY_MS)
    assert stage.state.link is Link.SUSPENDED
    stage.happen(ev.ResumeRequested)
    assert (stage.state.link, stage.state.paused) == (Link.UP, False)


@pytest.mark.req("M-07.limit", "M-07.lasts")
def test_a_limit_of_pauses_ends_the_conversation_and_never_resumes_it() -> None:
    stage = up(suspend_ms_max=60_000)
    stage.happen(ev.SuspendRequested)
    stage.wait(59_999)
    assert stage.state.link is Link.SUSPENDED
    assert stage.wait_for(T.SUSPEND) == (fx.CloseSession(1),)
    assert (stage.at, stage.state.link, stage.state.paused) == (60_000, Link.TERMINATING, False)
    assert Link.UP not in {record.after.link for record in stage.records[3:]}


def lose(stage: Stage) -> None:
    stage.happen(ev.LinkClosed)
    stage.wait_for(T.BACKOFF)


def fault(stage: Stage) -> None:
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    stage.wait_for(T.DISMISS)


@pytest.mark.req("M-07.lasts")
@pytest.mark.parametrize("disturb", [lose, fault])
def test_a_pause_continues_after_a_lost_line_and_after_a_fault(disturb: Callable[[Stage], None]) -> None:
    stage = asked()
    stage.happen(ev.SuspendRequested)
    disturb(stage)
    assert stage.state.paused
    session = stage.state.session_id
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(session), fx.StopCue())
    assert stage.state.link is Link.SUSPENDED
    stage.wait(60_000)
    assert requests(stage) == [(1, 1)]
    stage.happen(ev.ResumeRequested)
    stage.wait_for(T.BEAT)
    assert requests(stage) == [(1, 1), (1, 1)]


def back_off(stage: Stage) -> None:
    stage.happen(ev.LinkClosed)


def reconnect(stage: Stage) -> None:
    lose(stage)


def break_down(stage: Stage) -> None:
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)


@pytest.mark.req("M-07.lasts")
@pytest.mark.parametrize("disturb", [back_off, reconnect, break_down, fault])
def test_a_resume_while_the_line_is_not_there_ends_the_pause(disturb: Callable[[Stage], None]) -> None:
    stage = up()
    stage.happen(ev.SuspendRequested)
    disturb(stage)
    link = stage.state.link
    assert link in (Link.BACKING_OFF, Link.RECONNECTING, Link.FAULTED, Link.PREPARING)
    assert stage.happen(ev.ResumeRequested) == ()
    assert (stage.state.link, stage.state.paused) == (link, False)
    if link is Link.FAULTED:
        stage.happen(ev.RetryRequested)
    elif link is Link.BACKING_OFF:
        stage.wait_for(T.BACKOFF)
    stage.happen(ev.SessionReady)
    assert stage.state.link is Link.UP


@pytest.mark.req("M-07.lasts")
def test_a_resume_without_a_pause_does_nothing() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    before = stage.state
    assert stage.happen(ev.ResumeRequested) == ()
    assert stage.state is before


@pytest.mark.req("M-07.lasts")
def test_a_pause_can_be_asked_for_while_the_session_is_replaced() -> None:
    stage = speaking(session_ms_max=2_500, session_warning_ms=0)
    stage.wait_for(T.SESSION_LIMIT)
    stage.happen(ev.SessionEnded)
    assert stage.state.link is Link.RENEWING
    stage.happen(ev.SuspendRequested)
    assert (stage.state.link, stage.state.paused) == (Link.SUSPENDED, True)
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.SUSPENDED


# -- A renewal


@pytest.mark.req("M-07.renewed", "M-07.lasts")
def test_the_end_of_a_session_whose_successor_was_replaced_too_is_stale() -> None:
    stage = speaking(session_ms_max=2_500, session_warning_ms=0)
    stage.wait_for(T.SESSION_LIMIT)
    late = stage.make(ev.SessionEnded)
    stage.happen(ev.ReconnectRequested)
    stage.wait_for(T.BACKOFF)
    stage.happen(ev.SessionReady)
    stage.seq += 1
    before = stage.state
    assert before.link is Link.UP
    assert stage.happen(ev.SessionEnded, session=late.session) == ()  # type: ignore[attr-defined]
    assert stage.state is before


def renewing(**changes: object) -> Stage:
    """The answer plays, and the session has reached its limit."""
    stage = speaking(session_ms_max=2_500, session_warning_ms=0, **changes)
    assert stage.wait_for(T.SESSION_LIMIT) == (fx.SaveContext(), fx.RenewSession(2))
    return stage


@pytest.mark.req("H-10.silent")
def test_a_renewal_leaves_the_link_and_the_voice_as_they_are() -> None:
    stage = renewing()
    assert (stage.state.link, stage.view("conversation")) == (Link.UP, "speaking")
    assert due(stage, T.RENEW) == stage.at + 30_000
    stage.play(400)
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert (stage.state.link, stage.view("conversation")) == (Link.UP, "speaking")
    assert due(stage, T.RENEW) == 0
    assert stage.effects(fx.HoldPlayback) == stage.effects(fx.StopPlayback) == []


@pytest.mark.req("H-10.silent")
def test_the_new_session_has_its_own_limit_from_the_moment_it_is_ready() -> None:
    stage = up(session_ms_max=60_000, session_warning_ms=50_000)
    stage.wait_for(T.SESSION_LIMIT)
    stage.wait(1_234)
    stage.happen(ev.SessionReady)
    assert due(stage, T.SESSION_WARNING) == stage.at + 50_000
    assert due(stage, T.SESSION_LIMIT) == stage.at + 60_000


@pytest.mark.req("H-10.silent", "C-REQ-008")
def test_only_if_the_old_session_ends_first_the_conversation_is_suspended() -> None:
    stage = renewing()
    assert stage.happen(ev.SessionEnded) == (fx.HoldPlayback(1),)
    assert (stage.state.link, stage.view("conversation")) == (Link.RENEWING, "suspended")
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2), fx.ResumePlayback(1))
    assert stage.view("conversation") == "speaking"


@pytest.mark.req("H-10.silent")
def test_a_line_that_wobbles_when_the_old_session_ends_waits_for_the_new_one() -> None:
    stage = renewing()
    stage.happen(ev.LinkWobbled)
    stage.happen(ev.SessionEnded)
    assert stage.state.link is Link.RENEWING


@pytest.mark.req("H-10.silent")
@pytest.mark.parametrize("early_end", [True, False])
def test_a_renewal_that_takes_30_s_becomes_a_reconnect(early_end: bool) -> None:
    stage = up(session_ms_max=10_000, session_warning_ms=0)
    stage.wait(10_000)
    if early_end:
        stage.happen(ev.SessionEnded)
    stage.wait(29_999)
    assert stage.state.link is (Link.RENEWING if early_end else Link.UP)
    assert stage.wait_for(T.RENEW) == (fx.SaveContext(),)
    assert (stage.at, stage.state.link) == (40_000, Link.BACKING_OFF)


@pytest.mark.req("H-10.silent")
def test_a_session_that_ends_without_a_renewal_is_a_lost_line() -> None:
    stage = up()
    assert stage.happen(ev.SessionEnded) == (fx.SaveContext(),)
    assert stage.state.link is Link.BACKING_OFF


@pytest.mark.req("H-10.silent", "M-07.limits", "M-07.renewed", "M-07.lasts")
def test_a_renewal_that_takes_too_long_in_a_pause_keeps_the_pause() -> None:
    stage = up(session_ms_max=10_000, session_warning_ms=0)
    stage.happen(ev.SuspendRequested)
    stage.wait_for(T.RENEW)
    assert (stage.state.link, stage.state.paused) == (Link.BACKING_OFF, True)
    stage.wait_for(T.BACKOFF)
    stage.happen(ev.SessionReady)
    assert stage.state.link is Link.SUSPENDED
