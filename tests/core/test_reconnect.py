"""The session: losing and restoring it, pausing, renewing, and deadlines meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, Cue, ErrorClass, FaultSource, Link, Timer, User
from duologue.core.settings import profile
from duologue.core.state import UNFROZEN, Deadline, armed
from duologue.lab.sim.stage import Stage

T = Timer
SESSION_MS = 900_000
LOST = fx.ShowFault(FaultSource.LINK, ErrorClass.NETWORK_TIMEOUT, fatal=False)


def up(**changes: object) -> Stage:
    stage = Stage(profile("confirm", **{"dead_air_ms": 0, **changes}))
    stage.start()
    return stage


def asking(**changes: object) -> Stage:
    """Turn 1 was asked by reply 1."""
    stage = up(**changes)
    stage.say()
    return stage


def speaking(for_ms: int = 400, **changes: object) -> Stage:
    stage = asking(**changes)
    stage.think()
    stage.speak(for_ms)
    return stage


def lost() -> Stage:
    stage = up()
    stage.happen(ev.LinkClosed)
    return stage


def come_back(stage: Stage) -> tuple[fx.Effect, ...]:
    """The first attempt to reconnect succeeds."""
    stage.wait_for(T.BACKOFF)
    return stage.happen(ev.SessionReady)


def attempts(stage: Stage) -> list[tuple[int, int]]:
    """When each attempt was made, and its number."""
    return [
        (record.event.at, effect.attempt)
        for record in stage.records
        for effect in record.effects
        if isinstance(effect, fx.OpenSession) and effect.attempt
    ]


# -- Losing the line


def close(stage: Stage) -> None:
    stage.happen(ev.LinkClosed)


def fail_session(stage: Stage) -> None:
    stage.happen(ev.SessionFailed, error=ErrorClass.SERVER_ERROR)


def request(stage: Stage) -> None:
    stage.happen(ev.ReconnectRequested)


def expire_service(stage: Stage) -> None:
    stage.happen(ev.ServiceFailed, part=FaultSource.SESSION, error=ErrorClass.SESSION_EXPIRED)


def expire_reply(stage: Stage) -> None:
    stage.fail_reply(ErrorClass.SESSION_EXPIRED)


def wobble_too_long(stage: Stage) -> None:
    stage.happen(ev.LinkWobbled)
    stage.wait_for(T.HEAL)


def end_session(stage: Stage) -> None:
    stage.happen(ev.SessionEnded)


LOSSES = (close, fail_session, request, expire_service, expire_reply, wobble_too_long, end_session)
Act = Callable[[Stage], None]


@pytest.mark.req("L-14")
@pytest.mark.parametrize("lose", LOSSES)
def test_whatever_loses_the_line_saves_the_context_and_reconnects(lose: Act) -> None:
    stage = asking()
    lose(stage)
    assert stage.records[-1].effects[0] == fx.SaveContext()
    assert stage.view("lifecycle") == "reconnecting"
    assert stage.view("conversation") == "suspended"
    lost_at = stage.at
    assert stage.wait_for(T.BACKOFF) == (fx.OpenSession(stage.state.session_id, 1),)
    assert stage.at == lost_at + 1_000


def suspend(stage: Stage) -> None:
    stage.happen(ev.SuspendRequested)


def wobble(stage: Stage) -> None:
    stage.happen(ev.LinkWobbled)


def renew(stage: Stage) -> None:
    """The session ends before the next one is ready."""
    stage.wait_for(T.SESSION_LIMIT)
    stage.happen(ev.SessionEnded)


def paused(pause: Act) -> Stage:
    """A conversation in a pause that began right after a turn."""
    stage = speaking(session_ms_max=2_000, session_warning_ms=0)
    pause(stage)
    return stage


@pytest.mark.req("L-14")
@pytest.mark.parametrize("pause", [suspend, wobble, renew])
@pytest.mark.parametrize("lose", [close, fail_session, request, expire_service, expire_reply])
def test_a_paused_line_can_be_lost_too(pause: Act, lose: Act) -> None:
    stage = paused(pause)
    lose(stage)
    assert stage.records[-1].effects == (
        fx.SaveContext(),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
    )
    assert stage.view("lifecycle") == "reconnecting"


@pytest.mark.req("L-15")
@pytest.mark.parametrize("pause", [suspend, renew])
def test_a_line_that_wobbles_in_a_pause_may_heal_until_the_pause_is_over(pause: Act) -> None:
    stage = paused(pause)
    before = stage.state
    wobble(stage)
    assert stage.state == before
    stage.happen(ev.LinkClosed)
    assert stage.view("lifecycle") == "reconnecting"


@pytest.mark.req("L-19")
@pytest.mark.parametrize("pause", [suspend, wobble, renew])
def test_the_person_can_end_it_in_a_pause(pause: Act) -> None:
    stage = paused(pause)
    assert stage.happen(ev.EndRequested) == (
        fx.CloseSession(stage.state.session_id),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
    )


@pytest.mark.req("C-CON-002")
@pytest.mark.parametrize("pause", [suspend, wobble, renew])
def test_a_second_start_is_refused_in_a_pause(pause: Act) -> None:
    stage = paused(pause)
    assert stage.happen(ev.StartRequested) == (fx.RefuseStart(already_running=True),)


@pytest.mark.req("M-19")
@pytest.mark.parametrize(("pause", "window_ms"), [(suspend, 19_500), (wobble, 19_500), (renew, 20_500)])
def test_the_breaker_forgets_in_a_pause_too(pause: Act, window_ms: int) -> None:
    stage = up(session_ms_max=20_000, session_warning_ms=0, faults_window_ms=window_ms)
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait(19_000)
    pause(stage)
    paused = stage.state.link
    stage.wait_for(T.BREAKER)
    assert (stage.at, stage.state.faults, stage.state.link) == (window_ms, 0, paused)


@pytest.mark.req("L-16")
@pytest.mark.parametrize("pause", [suspend, wobble])
def test_the_context_is_saved_before_the_limit_in_a_pause_too(pause: Act) -> None:
    stage = up()
    stage.wait(869_000)
    pause(stage)
    assert stage.wait_for(T.SESSION_WARNING) == (fx.SaveContext(),)
    assert stage.at == 870_000


@pytest.mark.req("V-07")
@pytest.mark.parametrize("pause", [None, suspend, wobble, renew])
@pytest.mark.parametrize("spoken", [True, False])
def test_a_goodbye_that_comes_to_its_end_ends_the_call_also_in_a_pause(pause: Act | None, spoken: bool) -> None:
    stage = up(dead_air_ms=1_000, check_ins_max=0, hangs_up=True, session_ms_max=1_500, session_warning_ms=0)
    stage.wait(1_000)
    if spoken:
        stage.speak(400)
    if pause:
        pause(stage)
    session = stage.state.session_id
    effects = stage.finish() if spoken else stage.happen(ev.ReplyFinished)
    assert effects == (fx.CloseSession(session),)
    assert stage.state.link is Link.TERMINATING


@pytest.mark.req("L-14")
def test_a_line_that_is_lost_while_preparing_is_restored_too() -> None:
    stage = Stage()
    stage.happen(ev.StartRequested)
    assert stage.happen(ev.LinkClosed) == (fx.SaveContext(),)
    assert come_back(stage) == (fx.RestoreContext(3),)
    assert stage.state.link is Link.UP


@pytest.mark.req("L-14")
def test_the_old_session_is_not_listened_to_any_more() -> None:
    stage = lost()
    after = stage.state
    assert stage.happen(ev.SessionReady, session=1) == ()
    assert stage.happen(ev.LinkClosed, session=1) == ()
    assert stage.happen(ev.LinkHealed, session=1) == ()
    assert stage.state is after


# -- Attempts


@pytest.mark.req("L-14")
def test_attempts_come_after_one_three_and_ten_seconds_and_then_it_is_a_fault() -> None:
    stage = lost()
    for _ in range(3):
        stage.wait_for(T.BACKOFF)
        stage.happen(ev.SessionFailed, error=ErrorClass.SERVER_ERROR)
    assert attempts(stage) == [(1_000, 1), (4_000, 2), (14_000, 3)]
    assert stage.records[-1].effects == (fx.ShowFault(FaultSource.LINK, ErrorClass.SERVER_ERROR, fatal=False),)
    assert stage.view("lifecycle") == "error"


@pytest.mark.req("L-14", "M-02")
def test_an_attempt_is_given_up_after_thirty_seconds_exactly() -> None:
    stage = lost()
    stage.wait(30_999)
    assert stage.state.link is Link.RECONNECTING
    stage.wait(1)
    assert stage.state.link is Link.BACKING_OFF
    stage.wait(3_000)
    assert attempts(stage) == [(1_000, 1), (34_000, 2)]


@pytest.mark.req("L-14", "M-02")
def test_reconnecting_is_given_up_after_forty_five_seconds_exactly() -> None:
    stage = lost()
    stage.wait(44_999)
    assert stage.view("lifecycle") == "reconnecting"
    stage.wait(1)
    assert stage.records[-1].effects == (LOST,)
    assert stage.view("lifecycle") == "error"


@pytest.mark.req("L-14", "M-02")
def test_forty_five_seconds_also_end_a_wait_between_attempts() -> None:
    stage = up(backoff_ms=(1_000, 60_000))
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionFailed, error=ErrorClass.SERVER_ERROR)
    assert stage.wait_for(T.RECONNECT) == (LOST,)
    assert stage.at == 45_000


@pytest.mark.req("L-14")
def test_an_attempt_that_was_given_up_can_not_succeed_any_more() -> None:
    stage = lost()
    stage.wait_for(T.CONNECT)
    after = stage.state
    assert stage.happen(ev.SessionReady) == ()
    assert stage.state is after


@pytest.mark.req("L-14")
def test_a_line_that_is_back_restores_the_context_in_the_new_session() -> None:
    stage = lost()
    assert come_back(stage) == (fx.RestoreContext(3),)
    assert stage.views("lifecycle") == ["idle", "reconnecting", "idle"]


@pytest.mark.req("L-14")
def test_a_line_that_was_restored_has_all_its_attempts_again() -> None:
    stage = lost()
    stage.wait_for(T.BACKOFF)
    fail_session(stage)
    come_back(stage)
    stage.happen(ev.LinkClosed)
    lost_at = stage.at
    stage.wait_for(T.BACKOFF)
    assert attempts(stage)[-1] == (lost_at + 1_000, 1)


@pytest.mark.req("L-14")
def test_the_person_can_give_up() -> None:
    stage = lost()
    assert stage.happen(ev.EndRequested) == (fx.CloseSession(2),)
    stage.happen(ev.SessionClosed)
    assert stage.state.link is Link.IDLE


@pytest.mark.req("L-14")
def test_a_failed_reconnect_offers_a_retry() -> None:
    stage = lost()
    stage.wait_for(T.RECONNECT)
    assert stage.happen(ev.RetryRequested) == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(6))
    stage.happen(ev.SessionReady)
    assert stage.state.link is Link.UP


@pytest.mark.req("L-14")
def test_a_retry_after_a_failed_reconnect_restores_the_context_that_was_saved() -> None:
    stage = lost()
    stage.wait_for(T.RECONNECT)
    stage.happen(ev.RetryRequested)
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(6),)


# -- A wobble


@pytest.mark.req("M-07.limits")
@pytest.mark.req("L-15")
def test_a_wobble_has_two_seconds_to_heal_exactly() -> None:
    stage = up()
    assert stage.happen(ev.LinkWobbled) == ()
    stage.wait(1_999)
    assert stage.view("lifecycle") == "idle"
    stage.wait(1)
    assert stage.records[-1].effects == (fx.SaveContext(),)
    assert stage.view("lifecycle") == "reconnecting"


@pytest.mark.req("L-15")
def test_a_wobble_that_heals_goes_on_from_the_held_sample_and_reconnects_nothing() -> None:
    stage = speaking()
    assert stage.happen(ev.LinkWobbled) == (fx.HoldPlayback(1),)
    stage.wait(1_999)
    assert stage.happen(ev.LinkHealed) == (fx.ResumePlayback(1),)
    stage.finish()
    assert stage.effects(fx.SaveContext) == []
    assert stage.views("lifecycle")[-2:] == ["speaking", "idle"]


@pytest.mark.req("L-15")
def test_a_second_wobble_does_not_prolong_the_first() -> None:
    stage = up()
    stage.happen(ev.LinkWobbled)
    stage.wait(1_500)
    assert stage.happen(ev.LinkWobbled) == ()
    stage.wait(500)
    assert stage.view("lifecycle") == "reconnecting"


@pytest.mark.req("L-15")
def test_healing_that_comes_too_late_changes_nothing() -> None:
    stage = up()
    wobble_too_long(stage)
    after = stage.state
    assert stage.happen(ev.LinkHealed, session=1) == ()
    assert stage.state is after


# -- The session's limit


@pytest.mark.req("L-16.times")
def test_the_context_is_saved_half_a_minute_before_the_limit_and_the_session_renewed_at_it() -> None:
    stage = up()
    assert stage.wait_for(T.SESSION_WARNING) == (fx.SaveContext(),)
    assert stage.at == 870_000
    assert stage.wait_for(T.SESSION_LIMIT) == (fx.SaveContext(), fx.RenewSession(2))
    assert stage.at == SESSION_MS
    assert stage.view("conversation") == "listening"


@pytest.mark.req("L-16", "M-07.renewed")
def test_a_renewed_session_gets_the_context_and_its_own_limit() -> None:
    stage = up()
    stage.wait_for(T.SESSION_LIMIT)
    stage.wait(700)
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    renewed_at = stage.at
    stage.wait_for(T.SESSION_WARNING)
    assert stage.at == renewed_at + 870_000
    assert stage.wait_for(T.SESSION_LIMIT) == (fx.SaveContext(), fx.RenewSession(3))
    assert stage.at == renewed_at + SESSION_MS


@pytest.mark.req("L-16", "C-AC-005", "C-REQ-008", "H-10.silent")
def test_a_renewal_neither_stops_nor_holds_the_answer() -> None:
    stage = speaking(for_ms=0, session_ms_max=1_800, session_warning_ms=0)
    stage.play(200)
    assert stage.wait_for(T.SESSION_LIMIT) == (fx.SaveContext(), fx.RenewSession(2))
    stage.play(800)
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    stage.finish()
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]
    assert stage.effects(fx.TruncateReply) == []


@pytest.mark.req("L-16", "C-AC-005")
def test_a_renewal_keeps_the_request_that_is_out() -> None:
    stage = asking(session_ms_max=2_000, session_warning_ms=0)
    stage.happen(ev.ReplyAccepted)
    stage.wait_for(T.SESSION_LIMIT)
    stage.wait(500)
    stage.happen(ev.SessionReady)
    stage.happen(ev.TokenArrived)
    assert stage.speak() == (fx.StartPlayback(1, 1),)
    assert stage.views("conversation")[-3:] == ["processing", "waitingForCopilot", "speaking"]
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("L-16", "M-07.limits", "M-07.renewed")
def test_a_renewal_that_takes_thirty_seconds_becomes_a_reconnect() -> None:
    stage = up()
    stage.wait_for(T.SESSION_LIMIT)
    stage.wait(29_999)
    assert stage.state.link is Link.UP
    stage.wait(1)
    assert stage.records[-1].effects == (fx.SaveContext(),)
    assert stage.view("lifecycle") == "reconnecting"


@pytest.mark.req("L-16", "M-07.renewed")
@pytest.mark.parametrize("lose", [fail_session, close, request])
def test_a_renewal_that_fails_becomes_a_reconnect(lose: Act) -> None:
    stage = up()
    stage.wait_for(T.SESSION_LIMIT)
    lose(stage)
    assert stage.view("lifecycle") == "reconnecting"


@pytest.mark.req("L-16")
def test_a_session_without_a_limit_is_never_renewed() -> None:
    stage = up(session_ms_max=0, session_warning_ms=0)
    stage.wait(10 * SESSION_MS)
    assert stage.effects(fx.SaveContext) == []
    assert stage.state.link is Link.UP


@pytest.mark.req("L-16")
def test_a_wobble_at_the_limit_is_renewed() -> None:
    stage = up(session_ms_max=5_000, session_warning_ms=0)
    stage.wait(4_000)
    stage.happen(ev.LinkWobbled)
    assert stage.wait_for(T.SESSION_LIMIT) == (fx.SaveContext(), fx.RenewSession(2))


@pytest.mark.req("C-AC-005", "C-REQ-008")
def test_a_renewal_in_a_pause_goes_back_to_the_pause() -> None:
    stage = up(session_ms_max=5_000, session_warning_ms=0)
    stage.wait(4_000)
    stage.happen(ev.SuspendRequested)
    assert stage.wait_for(T.SESSION_LIMIT) == (fx.SaveContext(), fx.RenewSession(2))
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.SUSPENDED
    stage.happen(ev.ResumeRequested)
    assert stage.state.link is Link.UP


@pytest.mark.req("C-AC-005", "C-REQ-008")
def test_a_resume_before_the_renewal_is_done_does_not_wait_for_it() -> None:
    stage = up(session_ms_max=5_000, session_warning_ms=0)
    stage.wait(4_000)
    stage.happen(ev.SuspendRequested)
    stage.wait_for(T.SESSION_LIMIT)
    stage.happen(ev.ResumeRequested)
    assert stage.state.link is Link.UP
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.UP


# -- A pause


@pytest.mark.req("C-REQ-008")
def test_a_pause_holds_the_sound_and_a_resume_goes_on_with_it() -> None:
    stage = speaking()
    assert stage.happen(ev.SuspendRequested) == (fx.HoldPlayback(1),)
    assert stage.happen(ev.ResumeRequested) == (fx.ResumePlayback(1),)
    assert stage.views("conversation")[-3:] == ["speaking", "suspended", "speaking"]


@pytest.mark.req("C-REQ-008")
def test_a_pause_that_is_asked_for_while_the_line_wobbles_outlasts_the_wobble() -> None:
    stage = speaking()
    stage.happen(ev.LinkWobbled)
    stage.happen(ev.SuspendRequested)
    stage.happen(ev.LinkHealed)
    assert stage.view("conversation") == "suspended"


@pytest.mark.req("C-REQ-008", "M-07.limit")
def test_a_pause_that_reaches_its_limit_exactly_ends_the_conversation_and_reports_what_is_owed() -> None:
    stage = asking(suspend_ms_max=30_000)
    stage.happen(ev.SuspendRequested)
    stage.wait(29_999)
    assert stage.state.link is Link.SUSPENDED
    stage.wait(1)
    assert stage.records[-1].effects == (fx.CloseSession(1), fx.CancelReply(1), fx.ReportLost(1, 1))
    assert stage.view("conversation") == "terminating"


@pytest.mark.req("C-PER-003", "C-AC-005")
@pytest.mark.parametrize("begin", [up, asking, speaking])
def test_a_resume_is_back_in_the_previous_state_in_the_same_step(begin: Callable[[], Stage]) -> None:
    stage = begin()
    before = stage.view("conversation")
    stage.happen(ev.SuspendRequested)
    assert stage.view("conversation") == "suspended"
    stage.wait(5_000)
    stage.happen(ev.ResumeRequested)
    assert (stage.view("conversation"), stage.state.at) == (before, stage.at)


@pytest.mark.req("C-REQ-008")
def test_nothing_is_asked_in_a_pause_and_a_turn_of_the_pause_is_asked_a_beat_after_it() -> None:
    stage = up()
    stage.happen(ev.SuspendRequested)
    stage.say()
    stage.wait(5_000)
    assert stage.effects(fx.StartReply) == []
    stage.happen(ev.ResumeRequested)
    resumed_at = stage.at
    assert stage.wait_for(T.BEAT) == (fx.StartReply(1, 1, 1),)
    assert stage.at == resumed_at + 1


@pytest.mark.req("C-REQ-008")
def test_nothing_is_spoken_in_a_pause_and_a_ready_answer_speaks_with_the_resume() -> None:
    stage = asking()
    stage.happen(ev.SuspendRequested)
    assert stage.speak() == ()
    stage.wait(20_000)
    assert stage.happen(ev.ResumeRequested) == (fx.StartPlayback(1, 1),)


@pytest.mark.req("C-REQ-008")
def test_a_sound_of_the_person_in_a_pause_keeps_the_sound_held_after_it() -> None:
    stage = speaking()
    stage.happen(ev.SuspendRequested)
    assert stage.happen(ev.SpeechStarted) == ()
    assert stage.happen(ev.ResumeRequested) == ()
    assert stage.happen(ev.OverlapJudged, bid=False) == (fx.ResumePlayback(1),)


@pytest.mark.req("C-REQ-008")
def test_a_verdict_in_a_pause_resumes_the_sound_when_the_pause_is_over() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.happen(ev.SuspendRequested)
    assert stage.happen(ev.OverlapJudged, bid=False) == ()
    assert stage.happen(ev.ResumeRequested) == (fx.ResumePlayback(1),)


# -- Time in a pause


def settle(stage: Stage) -> None:
    stage.cough()


def transcribe(stage: Stage) -> None:
    stage.begin_talking()
    stage.happen(ev.PttReleased)


def sound(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.speak(400)


def hold(stage: Stage) -> None:
    sound(stage)
    stage.begin_talking()


def lull(stage: Stage) -> None:
    sound(stage)
    stage.cough()


def stop(stage: Stage) -> None:
    sound(stage)
    stage.happen(ev.InterruptRequested)


def ask(stage: Stage) -> None:
    stage.say()


def retry(stage: Stage) -> None:
    stage.say()
    stage.fail_reply(ErrorClass.RATE_LIMIT)


def get_ready(stage: Stage) -> None:
    stage.say()
    stage.begin_talking()
    stage.speak()


def delegate(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.call_tool()
    stage.happen(ev.CallDelegated)
    stage.happen(ev.ReplyFinished)


def owe(stage: Stage) -> None:
    delegate(stage)
    stage.happen(ev.JobAsked)
    stage.answer()
    stage.happen(ev.JobFinished)


def owe_behind_a_noise(stage: Stage) -> None:
    delegate(stage)
    stage.begin_talking()
    stage.happen(ev.JobFinished)


def cut_off(stage: Stage) -> None:
    """The answer was cut off by a sound without words."""
    sound(stage)
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=True)
    stage.happen(ev.PlaybackStopped, heard_ms=400)
    stage.happen(ev.SpeechStopped)
    stage.wait(600)


def end_later(stage: Stage) -> None:
    stage.happen(ev.EndAfterSpeaking)


def rest(stage: Stage) -> None:
    """Nothing happens."""


DEADLINES: tuple[tuple[Timer, Act], ...] = (
    (T.TALK, Stage.begin_talking),
    (T.COMMIT, Stage.begin_talking),
    (T.SETTLE, settle),
    (T.TEXT, transcribe),
    (T.STALL, sound),
    (T.LONG_SPEECH, sound),
    (T.OVERLAP, hold),
    (T.LULL, lull),
    (T.BREATH, stop),
    (T.STOP, stop),
    (T.ATTEMPT, ask),
    (T.ANSWER, ask),
    (T.RETRY, retry),
    (T.READY, get_ready),
    (T.BEAT, owe),
    (T.PATIENCE, owe_behind_a_noise),
    (T.DEAD_AIR, rest),
    (T.OFFER, cut_off),
    (T.LAST_WORDS, end_later),
    (T.JOB, delegate),
    (T.HEARTBEAT, delegate),
    (T.FEEDBACK, delegate),
)
PAUSES = (
    (ev.SuspendRequested, ev.ResumeRequested),
    (ev.LinkWobbled, ev.LinkHealed),
)


def running(stage: Stage) -> dict[tuple[Timer, int], int]:
    """Every deadline that a pause stops, with its due time."""
    return {(timer, call): due for due, timer, call in armed(stage.state) if timer not in UNFROZEN}


def due_of(stage: Stage, timer: Timer) -> Deadline:
    [deadline] = [deadline for deadline in armed(stage.state) if deadline.timer is timer]
    return deadline


@pytest.mark.req("C-REQ-008")
def test_every_deadline_of_the_conversation_is_in_the_table_of_these_tests() -> None:
    of_the_link = {T.PREPARE, T.BACKOFF, T.CONNECT, T.RECONNECT, T.DISMISS, T.CLOSE}  # never armed in a pause
    assert {timer for timer, _ in DEADLINES} == set(Timer) - set(UNFROZEN) - of_the_link


@pytest.mark.req("C-REQ-008")
@pytest.mark.parametrize(("pause", "resume"), PAUSES)
@pytest.mark.parametrize(("timer", "play"), DEADLINES, ids=[timer.value for timer, _ in DEADLINES])
def test_a_frozen_deadline_keeps_its_remaining_time_to_the_millisecond(
    timer: Timer, play: Act, pause: type[ev.Event], resume: type[ev.Event]
) -> None:
    stage = up(dead_air_ms=20_000)
    play(stage)
    before = running(stage)
    assert timer in {name for name, _ in before}
    stage.happen(pause)
    assert running(stage) == {}
    stage.wait(1_999)
    stage.happen(resume)
    assert running(stage) == {key: due + 1_999 for key, due in before.items()}


@pytest.mark.req("C-REQ-008")
@pytest.mark.parametrize(("timer", "play"), DEADLINES, ids=[timer.value for timer, _ in DEADLINES])
def test_a_deadline_that_is_due_at_the_very_moment_of_the_pause_fires_right_after_it(timer: Timer, play: Act) -> None:
    stage = up(dead_air_ms=20_000)
    play(stage)
    stage.at = due_of(stage, timer).due  # the driver sees the pause before the deadline
    stage.happen(ev.SuspendRequested)
    stage.wait(7_000)
    stage.happen(ev.ResumeRequested)
    assert due_of(stage, timer).due == stage.at + 1


@pytest.mark.req("C-REQ-008")
def test_a_deadline_does_not_fire_in_a_pause() -> None:
    stage = asking()
    deadline = due_of(stage, T.ATTEMPT)
    stage.happen(ev.SuspendRequested)
    stage.wait(20_000)
    after = stage.state
    assert stage.give(ev.TimerFired(stage.at, T.ATTEMPT, deadline.due)) == ()
    assert stage.state is after


@pytest.mark.req("C-REQ-008")
def test_what_begins_in_a_pause_has_its_whole_time_after_it() -> None:
    stage = up()
    stage.happen(ev.SuspendRequested)
    stage.begin_talking()
    stage.wait(5_000)
    stage.happen(ev.ResumeRequested)
    assert due_of(stage, T.TALK).due == stage.at + 600_000
    assert due_of(stage, T.COMMIT).due == stage.at + 30_000


@pytest.mark.req("C-REQ-008", "L-16")
def test_the_time_of_the_session_itself_can_not_be_paused() -> None:
    stage = up()
    limit = due_of(stage, T.SESSION_LIMIT)
    stage.happen(ev.SuspendRequested)
    stage.wait(5_000)
    stage.happen(ev.ResumeRequested)
    assert due_of(stage, T.SESSION_LIMIT) == limit


# -- Asked again


@pytest.mark.req("M-12", "C-AC-005")
def test_a_turn_without_an_audible_answer_is_asked_again_exactly_once_after_a_lost_line() -> None:
    stage = asking()
    assert stage.happen(ev.LinkClosed) == (fx.SaveContext(), fx.CancelReply(1))
    come_back(stage)
    back_at = stage.at
    assert stage.wait_for(T.BEAT) == (fx.StartReply(3, 1, 1),)
    assert stage.at == back_at + 1
    stage.answer()
    stage.wait(60_000)
    assert len(stage.effects(fx.StartReply)) == 2
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("M-12")
def test_a_loss_too_many_is_reported_and_told_and_not_asked_again() -> None:
    stage = asking()
    for _ in range(stage.state.settings.line_losses_max):
        stage.happen(ev.LinkClosed)
        come_back(stage)
        stage.wait(1)
    assert stage.happen(ev.LinkClosed) == (
        fx.SaveContext(),
        fx.CancelReply(7),
        fx.ReportLost(1, 1),
        fx.PlayCue(Cue.APOLOGY),
    )
    come_back(stage)
    stage.wait(60_000)
    assert len(stage.effects(fx.StartReply)) == 4


@pytest.mark.req("M-12", "H-04.heard")
def test_an_answer_of_which_something_was_heard_is_not_asked_again() -> None:
    stage = speaking(for_ms=400)
    assert stage.happen(ev.LinkClosed) == (
        fx.SaveContext(),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
    )
    come_back(stage)
    stage.wait(5_000)
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.ANSWER, Ask.OFFER]


@pytest.mark.req("M-12")
def test_a_sound_of_which_nothing_was_heard_is_asked_again() -> None:
    stage = speaking(for_ms=0)
    stage.happen(ev.LinkClosed)
    come_back(stage)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(3, 1, 1),)


@pytest.mark.req("M-12")
def test_the_next_turn_has_its_own_second_chance() -> None:
    stage = asking()
    stage.happen(ev.LinkClosed)
    come_back(stage)
    stage.wait(1)
    stage.answer()
    stage.say()
    assert fx.ReportLost(2, 2) not in stage.happen(ev.LinkClosed)
    come_back(stage)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(7, 2, 2),)


@pytest.mark.req("M-12", "M-08.again")
def test_the_next_turn_has_its_own_second_chance_after_a_dismissed_fault_too() -> None:
    stage = asking()
    stage.happen(ev.LinkClosed)
    come_back(stage)
    stage.wait(1)
    stage.fail_reply(ErrorClass.UNKNOWN)
    stage.happen(ev.DismissRequested)
    stage.happen(ev.SessionReady)
    stage.say()
    stage.happen(ev.LinkClosed)
    assert stage.effects(fx.ReportLost) == [fx.ReportLost(1, 1)]


@pytest.mark.req("M-18", "L-14")
def test_words_that_are_said_while_the_line_is_down_are_answered_when_it_is_back() -> None:
    stage = lost()
    stage.begin_talking()
    stage.hear_words(3, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1),)
    come_back(stage)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(1, 1, 1),)


@pytest.mark.req("M-18", "L-14")
def test_a_person_who_still_speaks_when_the_line_is_back_is_not_interrupted() -> None:
    stage = lost()
    stage.begin_talking()
    stage.hear_words(3)
    come_back(stage)
    assert (stage.state.user, stage.view("lifecycle")) == (User.TALKING, "listening")
    stage.hear_words(5, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("M-18")
def test_giving_up_reports_what_was_said_while_the_line_was_down() -> None:
    stage = lost()
    stage.happen(ev.TextTyped)
    assert stage.happen(ev.EndRequested) == (fx.CloseSession(2), fx.ReportLost(1, 1))
