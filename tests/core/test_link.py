"""The link: reconnecting, pausing, renewing, faults, words while it is down, the breaker."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.errors import InvalidSettings
from duologue.core.leaves import (
    ErrorClass,
    FaultSource,
    Link,
)
from duologue.core.settings import profile
from duologue.core.state import next_deadline
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, requests, up, when

# -- M-02: reconnecting


@pytest.mark.req("M-02", "L-14")
def test_reconnecting_ends_after_45_s_in_all() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.wait(44_999)
    assert when(stage, fx.OpenSession)[1:] == [1_000, 34_000]  # 1 s, 30 s for the attempt, 3 s
    assert stage.state.link is Link.RECONNECTING
    stage.wait(1)
    assert stage.effects(fx.ShowFault) == [fx.ShowFault(FaultSource.LINK, ErrorClass.NETWORK_TIMEOUT, fatal=False)]
    assert stage.at == 45_000


@pytest.mark.req("M-02", "L-14")
def test_attempts_come_after_1_3_and_10_s_and_the_last_failure_is_a_fault() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    for wait_ms in (1_000, 3_000, 10_000):
        assert stage.state.link is Link.BACKING_OFF
        stage.wait(wait_ms)
        assert stage.state.link is Link.RECONNECTING
        stage.happen(ev.SessionFailed, error=ErrorClass.SERVER_ERROR)
    assert when(stage, fx.OpenSession)[1:] == [1_000, 4_000, 14_000]
    assert stage.effects(fx.ShowFault) == [fx.ShowFault(FaultSource.LINK, ErrorClass.SERVER_ERROR, fatal=False)]


@pytest.mark.req("M-02")
def test_an_attempt_without_an_answer_is_bounded() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.wait(29_999)
    assert stage.state.link is Link.RECONNECTING
    stage.wait(1)
    assert stage.state.link is Link.BACKING_OFF


# -- M-07: suspension and renewal


@pytest.mark.req("M-07.limit")
def test_a_pause_with_a_limit_of_30_s_ends_the_conversation_after_30_s() -> None:
    stage = up(suspend_ms_max=30_000)
    stage.happen(ev.SuspendRequested)
    stage.wait(29_999)
    assert stage.state.link is Link.SUSPENDED
    stage.wait(1)
    assert stage.state.link is Link.TERMINATING
    assert stage.records[-1].effects == (fx.CloseSession(1),)


@pytest.mark.req("M-07.renewed", "L-16", "H-10.silent")
def test_the_session_limit_is_a_renewal_and_the_link_stays_up() -> None:
    stage = up()
    stage.wait(899_999)
    assert when(stage, fx.SaveContext) == [870_000]
    stage.wait(1)
    assert stage.state.link is Link.UP
    assert stage.records[-1].effects == (fx.SaveContext(), fx.RenewSession(2))
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.UP


@pytest.mark.req("M-07.limits", "M-07.renewed")
def test_a_renewal_that_fails_or_takes_30_s_becomes_a_reconnection() -> None:
    failed, late = up(), up()
    for stage in (failed, late):
        stage.wait(900_000)
    failed.happen(ev.SessionFailed, error=ErrorClass.SERVER_ERROR)
    assert failed.state.link is Link.BACKING_OFF
    late.wait(29_999)
    assert late.state.link is Link.UP
    late.wait(1)
    assert late.state.link is Link.BACKING_OFF


@pytest.mark.req("M-07.lasts", "C-REQ-008")
def test_a_renewal_during_a_pause_does_not_end_the_pause() -> None:
    stage = up(session_ms_max=60_000, session_warning_ms=50_000)
    stage.wait(50_000)
    stage.happen(ev.SuspendRequested)
    stage.wait(10_000)
    assert stage.effects(fx.RenewSession) == [fx.RenewSession(2)]
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.SUSPENDED
    stage.happen(ev.ResumeRequested)
    assert stage.state.link is Link.UP


@pytest.mark.req("M-07.renewed", "M-07.lasts", "H-10.silent")
def test_a_resume_before_the_renewed_session_is_there_does_not_wait_for_it() -> None:
    stage = up(session_ms_max=60_000, session_warning_ms=50_000)
    stage.wait(50_000)
    stage.happen(ev.SuspendRequested)
    stage.wait(10_000)
    stage.happen(ev.ResumeRequested)
    assert stage.state.link is Link.UP
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.UP


# -- M-08: faults


@pytest.mark.req("M-08.path")
def test_a_recoverable_fault_goes_to_preparing_and_then_listening() -> None:
    stage = up()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    assert (stage.view("conversation"), stage.view("lifecycle")) == ("faulted", "error")
    assert stage.happen(ev.RetryRequested) == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    assert (stage.view("conversation"), stage.view("lifecycle")) == ("preparing", "idle")
    stage.happen(ev.SessionReady)
    assert (stage.view("conversation"), stage.view("lifecycle")) == ("listening", "idle")


@pytest.mark.req("M-08.dismissed")
def test_dismissing_a_fault_reports_what_was_owed_as_lost() -> None:
    stage = asked()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    effects = stage.happen(ev.DismissRequested)
    assert effects == (fx.ReportLost(1, 1), fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    stage.happen(ev.SessionReady)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-08.again", "L-13", "H-02.again")
def test_a_fault_without_a_reaction_is_dismissed_after_10_s_and_loses_nothing() -> None:
    stage = asked()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    stage.wait(9_999)
    assert stage.state.link is Link.FAULTED
    stage.wait(1)
    assert stage.records[-1].effects == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert requests(stage) == [(1, 1), (1, 1)]


@pytest.mark.req("M-08.again")
def test_retrying_after_a_fault_keeps_what_was_owed() -> None:
    stage = asked()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    assert stage.happen(ev.RetryRequested) == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert requests(stage) == [(1, 1), (1, 1)]
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("M-08.again", "C-REQ-009")
def test_a_fatal_fault_is_shown_and_ends_the_conversation() -> None:
    stage = asked()
    stage.fail_reply(ErrorClass.AUTH_FAILURE)
    assert stage.effects(fx.ShowFault) == [fx.ShowFault(FaultSource.BRAIN, ErrorClass.AUTH_FAILURE, fatal=True)]
    stage.wait(5_999)
    assert stage.state.link is Link.FAULTED
    stage.wait(1)
    assert stage.state.link is Link.TERMINATING
    assert stage.records[-1].effects == (fx.CloseSession(1), fx.ReportLost(1, 1))


@pytest.mark.req("M-08.dismissed")
def test_dismissing_a_failed_reconnection_reports_the_open_turn_as_lost() -> None:
    stage = asked()
    stage.happen(ev.LinkClosed)
    stage.wait(45_000)
    assert stage.state.link is Link.FAULTED
    stage.happen(ev.DismissRequested)
    assert stage.effects(fx.ReportLost) == [fx.ReportLost(1, 1)]


# -- M-18: words while the link is down


@pytest.mark.req("M-18")
def test_words_heard_while_the_link_is_down_are_asked_when_it_is_back() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.say()
    stage.say()
    assert requests(stage) == []
    assert stage.state.link is Link.RECONNECTING
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert requests(stage) == [(1, 2)]


@pytest.mark.req("M-18")
def test_a_turn_that_goes_on_over_the_reconnect_is_asked_at_its_endpoint() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(4, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("M-18")
def test_ending_with_owed_input_reports_it_as_lost() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.say()
    stage.say()
    assert stage.happen(ev.EndRequested)[-1] == fx.ReportLost(1, 2)


@pytest.mark.req("M-18")
def test_ending_in_the_middle_of_a_turn_reports_it_as_lost() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    assert stage.happen(ev.EndRequested) == (fx.CloseSession(1), fx.ReportLost(1, 1))


@pytest.mark.req("M-18")
def test_ending_with_everything_answered_reports_nothing() -> None:
    stage = asked()
    stage.answer()
    assert stage.happen(ev.EndRequested) == (fx.CloseSession(1),)


def fail_and_recover(stage: Stage) -> None:
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    if stage.state.fault and not stage.state.fault.fatal:
        stage.happen(ev.RetryRequested)
        stage.happen(ev.SessionReady)


# -- M-19: the breaker


@pytest.mark.req("M-19", "C-PAT-004")
def test_the_third_fault_within_a_minute_is_fatal() -> None:
    stage = up()
    fail_and_recover(stage)
    stage.wait(30_000)
    fail_and_recover(stage)
    stage.wait(29_999)
    fail_and_recover(stage)
    assert [shown.fatal for shown in stage.effects(fx.ShowFault)] == [False, False, True]
    stage.wait(6_000)
    assert stage.state.link is Link.TERMINATING


@pytest.mark.req("M-19")
def test_faults_more_than_a_minute_apart_are_forgotten() -> None:
    stage = up()
    fail_and_recover(stage)
    fail_and_recover(stage)
    stage.wait(60_000)
    fail_and_recover(stage)
    assert [shown.fatal for shown in stage.effects(fx.ShowFault)] == [False, False, False]


@pytest.mark.req("M-19")
def test_the_fifth_fault_in_a_row_is_fatal_however_far_apart() -> None:
    stage = up()
    for _ in range(5):
        fail_and_recover(stage)
        stage.wait(100_000)
    assert [shown.fatal for shown in stage.effects(fx.ShowFault)] == [False] * 4 + [True]


@pytest.mark.req("M-19")
def test_an_answer_that_was_heard_breaks_the_row() -> None:
    stage = up()
    for _ in range(8):
        fail_and_recover(stage)
        stage.wait(100_000)
        stage.say()
        stage.answer()
    assert not any(shown.fatal for shown in stage.effects(fx.ShowFault))


@pytest.mark.req("M-19")
@pytest.mark.parametrize("name", ["immediate", "confirm", "words"])
@pytest.mark.parametrize("window_ms", [1, 60_000])
def test_left_alone_with_dead_services_a_conversation_comes_to_an_end(name: str, window_ms: int) -> None:
    stage = Stage(profile(name, faults_window_ms=window_ms, dead_air_ms=10_000))
    stage.start()
    stage.say()
    fired = 0
    while deadline := next_deadline(stage.state):
        stage.wait(deadline.due - stage.at)
        fired += 1
        assert fired < 200
    assert stage.state.link is Link.IDLE
    assert stage.effects(fx.ShowFault)[-1].fatal
    assert stage.effects(fx.ReportLost) == [fx.ReportLost(1, 1)]


@pytest.mark.req("M-19")
@pytest.mark.parametrize(
    "name", ["faults_max", "faults_in_a_row_max", "faults_window_ms", "dismiss_ms", "answer_ms_max"]
)
def test_settings_without_a_bound_are_refused(name: str) -> None:
    with pytest.raises(InvalidSettings, match=name):
        profile("confirm", **{name: 0})


# -- A client that comes back


@pytest.mark.parametrize("kind", [None, ev.StartRequested])
def test_a_voice_that_a_returning_client_has_played_gets_no_second_one_with_its_number(
    kind: type[ev.Event] | None,
) -> None:
    stage = Stage(profile("confirm", greets=False))
    if kind is not None:
        stage.happen(kind)
    assert stage.happen(ev.VoicesPlayed, played=7) == ()
    assert stage.happen(ev.VoicesPlayed, played=5) == ()
    assert stage.state.voice_id == 7


def test_the_next_voice_gets_the_number_after_the_one_that_the_client_knows() -> None:
    stage = up()
    stage.happen(ev.VoicesPlayed, played=7)
    stage.say()
    stage.think()
    stage.speak()
    assert stage.effects(fx.StartPlayback) == [fx.StartPlayback(8, 1)]
