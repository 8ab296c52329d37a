"""Promises about the link: starting, pausing, losing, reconnecting and ending the session."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    ACTIVE,
    AWAY,
    FOREGROUND,
    LIVE,
    PENDING,
    SOUNDING,
    TIMER_INDEX,
    Ask,
    Cue,
    ErrorClass,
    FaultSource,
    JobKind,
    Link,
    Reply,
    Timer,
    User,
    Voice,
)
from duologue.core.settings import POLICIES
from duologue.core.state import State, has_foreground

from ..laws import CheckedStep
from .promise import Promise, does, goes, never

T = Timer


def _asked_too_often(s: State, fault: fx.ShowFault) -> bool:
    """Was the brain asked often enough about the newest turn that it was asked about? Yes, if it was asked twice about
    this turn, or if errors of this class are never retried."""
    hopeless = fault.part in (FaultSource.BRAIN, FaultSource.VOICE) and not POLICIES[fault.error].retries_max
    return hopeless or s.asked <= s.asked_again


def _can_start(e: ev.StartRequested) -> bool:
    return e.session_active and e.audio_primed


def _is_armed(s: State, timer: Timer) -> bool:
    return s.due[TIMER_INDEX[timer]] > 0


def _faulted(step: CheckedStep) -> bool:
    """Did the step cause a fault, count it, show it, and mark it correctly as fatal or not fatal? A fault must be fatal
    if and only if there were too many faults, too many faults in a row, or an error that always ends the call."""
    s, fault = step.after, step.after.fault
    shown = [effect for effect in step.effects if isinstance(effect, fx.ShowFault)]
    if s.link is not Link.FAULTED or fault is None or shown != [fx.ShowFault(*fault)]:
        return False
    settings = s.settings
    counted = s.faults == step.before.faults + 1 and s.faults_in_a_row == step.before.faults_in_a_row + 1
    tripped = s.faults == settings.faults_max or s.faults_in_a_row == settings.faults_in_a_row_max
    return counted and _is_armed(s, T.BREAKER) and fault.fatal == (tripped or POLICIES[fault.error].ends)


def _keeps_jobs(step: CheckedStep) -> bool:
    return [job.kind for job in step.after.jobs] == [job.kind for job in step.before.jobs]


def _drops_calls_only(step: CheckedStep) -> bool:
    dispatched = [job.kind for job in step.before.jobs if job.kind is JobKind.DISPATCHED]
    return [job.kind for job in step.after.jobs] == dispatched


def _lost(step: CheckedStep) -> bool:
    """Did the step handle a lost line correctly? After it, the link is backing off, the context is saved, the voice is
    silent, there is no reply, and the jobs are the same as before."""
    s = step.after
    quiet = s.voice is Voice.SILENT and s.reply is Reply.NONE and s.attempts == 0
    return s.link is Link.BACKING_OFF and quiet and does(step, fx.SaveContext) and _keeps_jobs(step)


def _attempt_left(s: State, e: ev.Event) -> bool:
    return s.attempts < len(s.settings.backoff_ms) and getattr(e, "error", None) is not ErrorClass.AUTH_FAILURE


def _renewal_pending(s: State) -> bool:
    return s.settings.session_ms_max > 0 and not _is_armed(s, T.SESSION_LIMIT)


def _last_asked(s: State) -> int:
    """The newest turn that the brain was asked about, in this session or before the line was lost."""
    return max(s.asked, s.asked_again)


def _losses(s: State) -> int:
    """How often the line was lost while the user waited for the answer to the turns up to `asked_again`. 0 if these
    turns are answered."""
    return s.losses if s.asked_again > s.answered else 0


def _fatal(s: State) -> bool:
    return s.fault is not None and s.fault.fatal


def _mid_answer(s: State) -> bool:
    """Is an answer on its way, and has the user heard no part of it yet? False if an open tool call will continue the
    answer."""
    unheard = s.reply in PENDING or (s.voice in SOUNDING and not s.heard_ms)
    return unheard and s.asked > s.answered and not has_foreground(s)


def _given_up(step: CheckedStep) -> bool:
    """Did the step give up the turns that the brain was asked about, and tell the user? If the output of a tool call
    was on its way to the brain, the cue must be CALL_MADE, and the output must not become news. Otherwise the cue must
    be APOLOGY, which asks the user to try again."""
    cue = Cue.CALL_MADE if step.before.telling else Cue.APOLOGY
    return (
        fx.PlayCue(cue) in step.effects
        and step.after.answered == step.before.asked
        and not step.after.telling
        and step.after.news == step.before.news
    )


def _kept(step: CheckedStep) -> bool:
    return never(step, fx.PlayCue) and step.after.answered == step.before.answered


def _no_output_is_left(step: CheckedStep) -> bool:
    """Did the step drop the outputs of tool calls that were on their way to the brain? They must not become news. If
    there were such outputs, the step must not play APOLOGY, because that cue asks the user to try again."""
    told = not step.before.telling or fx.PlayCue(Cue.APOLOGY) not in step.effects
    return told and not step.after.telling and step.after.news == step.before.news


def _goodbye_over(s: State, e: ev.Event) -> bool:
    finished = s.voice in SOUNDING if isinstance(e, ev.PlaybackFinished) else s.reply in _OPEN
    return s.link in LIVE and s.ask is Ask.GOODBYE and finished and not s.called


_OPEN = (Reply.COMMITTING, Reply.WAITING, Reply.GENERATING)

LINK_PROMISES: tuple[Promise, ...] = (
    Promise(
        "a new voice never gets the number of a voice that a returning client has already played",
        (ev.VoicesPlayed,),
        lambda s, e: e.seq > s.seq,
        lambda x: (
            x.after.voice_id == max(x.before.voice_id, x.event.played)  # type: ignore[attr-defined]
            and x.effects == ()
            and x.after._replace(seq=0, voice_id=0) == x.before._replace(seq=0, voice_id=0)
        ),
    ),
    Promise(
        "a start request with an active session and primed audio prepares the call",
        (ev.StartRequested,),
        lambda s, e: s.link is Link.IDLE and _can_start(e),
        lambda x: goes(x, Link.PREPARING) and does(x, fx.OpenSession) and x.after.news == x.after.settings.greets,
    ),
    Promise(
        "a start that isn't possible is refused and changes nothing",
        (ev.StartRequested,),
        lambda s, e: s.link is not Link.IDLE or not _can_start(e),
        lambda x: (
            x.effects == (fx.RefuseStart(already_running=x.before.link is not Link.IDLE),)
            and x.after._replace(seq=0) == x.before._replace(seq=0)
        ),
    ),
    Promise(
        "when the session is ready, the link is up and the session limit is armed",
        (ev.SessionReady,),
        lambda s, e: s.link is Link.PREPARING,
        lambda x: (
            goes(x, Link.SUSPENDED if x.before.paused else Link.UP)
            and does(x, fx.RestoreContext)
            and _is_armed(x.after, T.SESSION_LIMIT) == (x.after.settings.session_ms_max > 0)
        ),
    ),
    Promise(
        "an end request closes the session from any state",
        (ev.EndRequested,),
        lambda s, e: s.link in ACTIVE,
        lambda x: goes(x, Link.TERMINATING, Voice.SILENT, Reply.NONE, User.QUIET) and does(x, fx.CloseSession),
    ),
    Promise(
        "after the session has closed, the conversation is idle again",
        (ev.SessionClosed, T.CLOSE),
        lambda s, e: s.link is Link.TERMINATING,
        lambda x: goes(x, Link.IDLE) and x.after.faults == x.after.faults_in_a_row == x.after.check_ins == 0,
    ),
    Promise(
        "a pause request suspends the conversation",
        (ev.SuspendRequested,),
        lambda s, e: s.link in (Link.UP, Link.HEALING, Link.RENEWING),
        lambda x: (
            goes(x, Link.SUSPENDED)
            and does(x, fx.HoldPlayback) == (x.before.voice is Voice.PLAYING and x.before.link is Link.UP)
        ),
    ),
    Promise(
        "a pause stops a cue that may still be playing, even if the pause continues in a new session",
        (ev.SuspendRequested, ev.SessionReady),
        lambda s, e: s.user is User.QUIET and (s.voice is Voice.SILENT or s.cues > 0),
        lambda x: does(x, fx.StopCue) == (x.after.link is Link.SUSPENDED and x.before.link is not Link.SUSPENDED),
    ),
    Promise(
        "a new session does not end a pause, and neither stops nor holds the voice",
        (ev.SessionReady,),
        lambda s, e: s.link in (Link.UP, Link.SUSPENDED, Link.HEALING) and _renewal_pending(s),
        lambda x: (
            goes(x, x.before.link, x.before.voice)
            and does(x, fx.RestoreContext)
            and never(x, fx.HoldPlayback, fx.StopPlayback)
            and not _renewal_pending(x.after)
            and not _is_armed(x.after, T.RENEW)
            and _is_armed(x.after, T.SESSION_WARNING)
        ),
    ),
    Promise(
        "a resume continues where the pause began",
        (ev.ResumeRequested,),
        lambda s, e: s.link is Link.SUSPENDED,
        lambda x: (
            goes(x, Link.UP) and not x.after.paused and does(x, fx.ResumePlayback) == (x.before.voice is Voice.PLAYING)
        ),
    ),
    Promise(
        "a resume while the line is lost or broken ends the pause",
        (ev.ResumeRequested,),
        lambda s, e: s.link not in (Link.SUSPENDED, Link.IDLE, Link.TERMINATING),
        lambda x: x.after.link is x.before.link and not x.after.paused and x.effects == (),
    ),
    Promise(
        "a pause that lasts too long ends the conversation",
        (T.SUSPEND,),
        lambda s, e: True,
        lambda x: goes(x, Link.TERMINATING) and does(x, fx.CloseSession),
    ),
    Promise(
        "the session warning saves the context and does not change the link",
        (T.SESSION_WARNING,),
        lambda s, e: True,
        lambda x: does(x, fx.SaveContext) and x.after.link is x.before.link,
    ),
    Promise(
        "the session limit renews the session, and the user hears nothing of it",
        (T.SESSION_LIMIT,),
        lambda s, e: s.link in LIVE,
        lambda x: (
            goes(x, x.before.link, x.before.voice, x.before.reply)
            and x.effects == (fx.SaveContext(), fx.RenewSession(x.after.session_id))
            and x.after.session_id > x.before.session_id
            and _is_armed(x.after, T.RENEW)
        ),
    ),
    Promise(
        "a session that ends before the next one is ready holds the conversation",
        (ev.SessionEnded,),
        lambda s, e: s.link in (Link.UP, Link.HEALING) and _renewal_pending(s),
        lambda x: goes(x, Link.RENEWING) and never(x, fx.StopPlayback, fx.CancelReply),
    ),
    Promise(
        "a session that ends without a successor loses the line",
        (ev.SessionEnded,),
        lambda s, e: s.link in LIVE and not (s.link in (Link.UP, Link.HEALING) and _renewal_pending(s)),
        _lost,
    ),
    Promise(
        "after a renewal the link is up, with a new session limit and warning",
        (ev.SessionReady,),
        lambda s, e: s.link is Link.RENEWING,
        lambda x: (
            goes(x, Link.UP)
            and does(x, fx.RestoreContext)
            and _is_armed(x.after, T.SESSION_LIMIT)
            and _is_armed(x.after, T.SESSION_WARNING)
        ),
    ),
    Promise(
        "after a wobble the line gets time to heal",
        (ev.LinkWobbled,),
        lambda s, e: s.link is Link.UP,
        lambda x: goes(x, Link.HEALING) and never(x, fx.StopPlayback, fx.CancelReply),
    ),
    Promise(
        "when the line has healed, the link is up again",
        (ev.LinkHealed,),
        lambda s, e: s.link is Link.HEALING,
        lambda x: goes(x, Link.UP),
    ),
    Promise(
        "a renewal or a wobble that lasts too long loses the line",
        (T.RENEW, T.HEAL),
        lambda s, e: True,
        _lost,
    ),
    Promise(
        "a closed line leads to a reconnect",
        (ev.LinkClosed,),
        lambda s, e: s.link in (Link.PREPARING, *LIVE) or (s.link is Link.FAULTED and not _fatal(s)),
        lambda x: _lost(x) and x.after.fault is None and does(x, fx.ClearFault) == (x.before.fault is not None),
    ),
    Promise(
        "a closed line does not clear a fatal fault",
        (ev.LinkClosed,),
        lambda s, e: _fatal(s),
        lambda x: x.after is x.before,
    ),
    Promise(
        "a reconnect request or a failed session leads to a reconnect",
        (ev.ReconnectRequested, ev.SessionFailed),
        lambda s, e: s.link in LIVE and getattr(e, "error", None) is not ErrorClass.AUTH_FAILURE,
        _lost,
    ),
    Promise(
        "a session that fails authentication is a fatal fault",
        (ev.SessionFailed,),
        lambda s, e: s.link in (Link.PREPARING, Link.RECONNECTING, *LIVE) and e.error is ErrorClass.AUTH_FAILURE,
        lambda x: _faulted(x) and x.after.fault is not None and x.after.fault.fatal,
    ),
    Promise(
        "each backoff ends with an attempt to reconnect",
        (T.BACKOFF,),
        lambda s, e: True,
        lambda x: goes(x, Link.RECONNECTING) and does(x, fx.OpenSession) and x.after.attempts == x.before.attempts + 1,
    ),
    Promise(
        "a successful reconnect restores the context",
        (ev.SessionReady,),
        lambda s, e: s.link is Link.RECONNECTING,
        lambda x: (
            goes(x, Link.SUSPENDED if x.before.paused else Link.UP)
            and does(x, fx.RestoreContext)
            and x.after.attempts == 0
        ),
    ),
    Promise(
        "a failed attempt to reconnect is followed by another while attempts are left",
        (ev.SessionFailed, ev.LinkClosed, T.CONNECT),
        lambda s, e: s.link is Link.RECONNECTING and _attempt_left(s, e),
        lambda x: goes(x, Link.BACKING_OFF) and x.after.attempts == x.before.attempts,
    ),
    Promise(
        "the last failed attempt to reconnect is a fault",
        (ev.SessionFailed, ev.LinkClosed, T.CONNECT),
        lambda s, e: s.link is Link.RECONNECTING and not _attempt_left(s, e),
        lambda x: _faulted(x) and x.after.attempts == 0,
    ),
    Promise("reconnecting that takes too long is a fault", (T.RECONNECT,), lambda s, e: s.link in AWAY, _faulted),
    Promise(
        "a session that can't be opened is a fault",
        (ev.SessionFailed, T.PREPARE),
        lambda s, e: s.link is Link.PREPARING,
        _faulted,
    ),
    Promise(
        "an expired session leads to a reconnect",
        (ev.ServiceFailed, ev.ReplyFailed, ev.PlaybackFailed),
        lambda s, e: (
            s.link in LIVE
            and e.error is ErrorClass.SESSION_EXPIRED
            and (
                isinstance(e, ev.ServiceFailed)
                or (isinstance(e, ev.PlaybackFailed) and s.voice is not Voice.SILENT)
                or (isinstance(e, ev.ReplyFailed) and s.reply in (*_OPEN, Reply.READY))
            )
        ),
        _lost,
    ),
    Promise(
        "a failed service is a fault",
        (ev.ServiceFailed,),
        lambda s, e: s.link in LIVE and e.error is not ErrorClass.SESSION_EXPIRED,
        lambda x: _faulted(x) and _drops_calls_only(x),
    ),
    Promise(
        "failed playback is a fault",
        (ev.PlaybackFailed,),
        lambda s, e: s.link in LIVE and s.voice in SOUNDING and e.error is not ErrorClass.SESSION_EXPIRED,
        _faulted,
    ),
    Promise("playback that stalls is a fault", (T.STALL,), lambda s, e: s.link in LIVE, _faulted),
    Promise(
        "a fault cancels the open calls and keeps the dispatched jobs",
        (ev.PlaybackFailed, T.STALL, T.ANSWER, T.ATTEMPT, ev.ReplyFailed),
        lambda s, e: any(job.kind in FOREGROUND for job in s.jobs),
        lambda x: x.after.link is not Link.FAULTED or _drops_calls_only(x),
    ),
    Promise(
        "every fault of a reply is counted and shown",
        (ev.ReplyFailed, T.ANSWER, T.ATTEMPT),
        lambda s, e: True,
        lambda x: x.after.link is not Link.FAULTED or x.before.link is Link.FAULTED or _faulted(x),
    ),
    Promise(
        "after a fault, a question whose answer was not heard is kept or given up with an apology",
        (ev.ReplyFailed, ev.ServiceFailed, T.ANSWER, T.ATTEMPT),
        lambda s, e: s.link in LIVE and s.asked > s.answered and not s.heard_ms and s.user is User.QUIET,
        lambda x: (
            not (faults := [one for one in x.effects if isinstance(one, fx.ShowFault) and not one.fatal])
            or x.before.called
            or has_foreground(x.before)
            or (_given_up(x) if _asked_too_often(x.before, faults[0]) else _kept(x))
        ),
    ),
    Promise(
        "the breaker's deadline resets its count of faults",
        (T.BREAKER,),
        lambda s, e: s.link in ACTIVE,
        lambda x: (
            x.after.faults == 0
            and x.after.faults_in_a_row == x.before.faults_in_a_row
            and x.after.link is x.before.link
        ),
    ),
    Promise(
        "a fatal fault ends the conversation when it is dismissed or retried",
        (T.DISMISS, ev.DismissRequested, ev.RetryRequested, ev.LastWordsHeard),
        lambda s, e: s.link is Link.FAULTED and _fatal(s),
        lambda x: goes(x, Link.TERMINATING) and does(x, fx.CloseSession),
    ),
    Promise(
        "a retry after a fault keeps the unanswered turns",
        (ev.RetryRequested,),
        lambda s, e: s.link is Link.FAULTED and not _fatal(s),
        lambda x: (
            goes(x, Link.PREPARING)
            and does(x, fx.SaveContext, fx.OpenSession, fx.ClearFault)
            and x.after.fault is None
            and never(x, fx.ReportLost)
            and x.after.asked == x.after.answered == x.before.answered
        ),
    ),
    Promise(
        "a fault that the user dismisses reports the turns that are lost",
        (ev.DismissRequested,),
        lambda s, e: s.link is Link.FAULTED and not _fatal(s),
        lambda x: (
            goes(x, Link.PREPARING)
            and does(x, fx.SaveContext, fx.OpenSession, fx.ClearFault)
            and does(x, fx.ReportLost) == (_last_asked(x.before) > x.before.answered)
            and x.after.answered == x.after.asked == _last_asked(x.before)
            and x.after.said == x.before.said
        ),
    ),
    Promise(
        "if the user speaks during a fault, or doesn't dismiss it, the fault ends and the question is asked again",
        (T.DISMISS, ev.SpeechStarted, ev.TextTyped, ev.PttPressed),
        lambda s, e: s.link is Link.FAULTED and not _fatal(s),
        lambda x: (
            goes(x, Link.PREPARING)
            and does(x, fx.SaveContext, fx.OpenSession, fx.ClearFault)
            and never(x, fx.ReportLost)
            and x.after.asked == x.after.answered == x.before.answered
            and x.after.asked_again >= x.before.asked
        ),
    ),
    Promise(
        "a goodbye that the user doesn't answer ends the call",
        (ev.PlaybackFinished, ev.ReplyFinished),
        lambda s, e: _goodbye_over(s, e) and s.user is User.QUIET and s.said == s.asked,
        lambda x: goes(x, Link.TERMINATING) and does(x, fx.CloseSession),
    ),
    Promise(
        "a user who speaks during the goodbye keeps the call open",
        (ev.PlaybackFinished, ev.ReplyFinished),
        lambda s, e: _goodbye_over(s, e) and (s.user is not User.QUIET or s.said > s.asked),
        lambda x: x.after.link is x.before.link,
    ),
    Promise(
        "after a lost line, a turn whose answer was not heard is sent to the brain again",
        (ev.LinkClosed, ev.ReconnectRequested),
        lambda s, e: s.link in LIVE and _mid_answer(s) and _losses(s) < s.settings.line_losses_max,
        lambda x: (
            x.after.asked == x.after.answered == x.before.answered
            and x.after.asked_again == x.before.asked
            and x.after.losses == _losses(x.before) + 1
        ),
    ),
    Promise(
        "after a lost line, turns whose calls still run are not sent to the brain again",
        (ev.LinkClosed, ev.ReconnectRequested),
        lambda s, e: s.link in LIVE and s.asked > s.answered and has_foreground(s) and not s.heard_ms,
        lambda x: x.after.asked == x.before.asked and x.after.answered == x.before.answered,
    ),
    Promise(
        "if the line is lost too often before the answer is heard, the turn is reported as lost",
        (ev.LinkClosed, ev.ReconnectRequested),
        lambda s, e: s.link in LIVE and _mid_answer(s) and _losses(s) == s.settings.line_losses_max,
        lambda x: (
            fx.ReportLost(x.before.answered + 1, min(x.before.asked, x.before.asked_again)) in x.effects
            and x.after.answered == min(x.before.asked, x.before.asked_again)
            and x.after.asked_again == x.before.asked
            and x.after.losses == 1
            and (x.before.asked > x.before.asked_again or _no_output_is_left(x))
        ),
    ),
)
