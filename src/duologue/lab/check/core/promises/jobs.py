"""Promises about jobs (tool calls, delegated work and dispatched work): among other things, each job ends exactly
once."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ACTIVE, FOREGROUND, SOUNDING, JobKind, Outcome, Overlap, Reply, Timer, Voice
from duologue.core.state import JobRecord, State

from ..laws import CheckedStep
from .promise import Promise, does, never

T = Timer
_TAKES_FLOOR = (ev.SpeechStarted, ev.PttPressed, ev.TextTyped, ev.InterruptRequested, ev.OverlapJudged)


def _job(s: State, e: ev.Event) -> JobRecord | None:
    return next((job for job in s.jobs if job.call == getattr(e, "call", 0)), None)


def _kind(s: State, e: ev.Event) -> JobKind:
    job = _job(s, e)
    return job.kind if job and s.link in ACTIVE else JobKind.ABSENT


def _outcome(e: ev.Event) -> Outcome:
    if isinstance(e, ev.TimerFired):
        return Outcome.TIMED_OUT
    return Outcome.DONE if isinstance(e, ev.JobFinished) else Outcome.FAILED


def _kinds(s: State) -> list[JobKind]:
    return [job.kind for job in s.jobs]


def _brain_learns(step: CheckedStep) -> bool:
    """Does the brain learn what the job reported, from a request in this step or from news later?"""
    return step.after.news or does(step, fx.StartReply)


def _ends(step: CheckedStep, effect: fx.Effect) -> bool:
    """Did the step end the job correctly? The job must be gone, and `effect` must be among the step's effects. The step
    must cancel the work if the job has timed out, and only then."""
    call = step.event.call  # type: ignore[attr-defined]
    stopped = fx.CancelWork(call) in step.effects
    return (
        _job(step.after, step.event) is None
        and effect in step.effects
        and stopped == isinstance(step.event, ev.TimerFired)
    )


def _open_reply(s: State, e: ev.ToolCalled) -> bool:
    open_now = s.reply in (Reply.COMMITTING, Reply.WAITING, Reply.GENERATING, Reply.READY) or s.voice in SOUNDING
    return s.link in ACTIVE and e.reply == s.reply_id and e.call > s.call_id and open_now


def _takes_floor(s: State, e: ev.Event) -> bool:
    if isinstance(e, ev.InterruptRequested):
        return True
    if isinstance(e, ev.SpeechStarted) and s.settings.overlap is not Overlap.IMMEDIATE:
        return False
    if s.firm and isinstance(e, ev.SpeechStarted | ev.OverlapJudged):
        return False
    return s.voice in SOUNDING and getattr(e, "bid", True)


def _survivors(step: CheckedStep) -> list[tuple[JobKind, bool]]:
    """The jobs that must exist after the step, as (kind, cancellable): the same as before the step. But if the user
    takes the floor, the cancellable tool calls that the answer waits for (foreground calls) must be gone."""
    taken = _takes_floor(step.before, step.event)
    return [
        (job.kind, job.cancellable)
        for job in step.before.jobs
        if not (taken and job.cancellable and job.kind in FOREGROUND)
    ]


JOB_PROMISES: tuple[Promise, ...] = (
    Promise(
        "a tool call of an open reply is run",
        (ev.ToolCalled,),
        lambda s, e: _open_reply(s, e) and len(s.jobs) < s.settings.jobs_max,
        lambda x: (
            _kind(x.after, x.event) is JobKind.TOOL
            and x.after.called
            and x.effects == (fx.RunCall(x.event.call),)  # type: ignore[attr-defined]
            and x.after.reply is not Reply.COMMITTING
            and x.after.reply is not Reply.WAITING
        ),
    ),
    Promise(
        "a call beyond the limit is refused, and its output says so",
        (ev.ToolCalled,),
        lambda s, e: _open_reply(s, e) and len(s.jobs) >= s.settings.jobs_max,
        lambda x: (
            fx.PostOutput(x.event.call, Outcome.REFUSED) in x.effects  # type: ignore[attr-defined]
            and x.after.called
            and x.after.news
        ),
    ),
    Promise(
        "the reply waits for a delegated call",
        (ev.CallDelegated,),
        lambda s, e: _kind(s, e) is JobKind.TOOL,
        lambda x: _kind(x.after, x.event) is JobKind.DELEGATED and x.effects == (),
    ),
    Promise(
        "a dispatched call gets its output immediately and runs in the background",
        (ev.CallDispatched,),
        lambda s, e: _kind(s, e) is JobKind.TOOL,
        lambda x: (
            _kind(x.after, x.event) is JobKind.DISPATCHED
            and fx.PostOutput(x.event.call, Outcome.STARTED) in x.effects  # type: ignore[attr-defined]
            and _brain_learns(x)
        ),
    ),
    Promise(
        "a worker's question is passed on to the user",
        (ev.JobAsked,),
        lambda s, e: _kind(s, e) is not JobKind.ABSENT,
        lambda x: (
            _kind(x.after, x.event) is JobKind.DISPATCHED
            and _brain_learns(x)
            and (fx.PostOutput if _kind(x.before, x.event) in FOREGROUND else fx.PostNews)(
                x.event.call,  # type: ignore[attr-defined]
                Outcome.NEEDS_INPUT,
            )
            in x.effects
        ),
    ),
    Promise(
        "the progress of a job is shown",
        (ev.JobProgressed,),
        lambda s, e: _kind(s, e) is not JobKind.ABSENT,
        lambda x: x.effects == (fx.ShowProgress(_call(x)),) and _kinds(x.after) == _kinds(x.before),
    ),
    Promise(
        "a job that stays silent causes a warning and keeps running",
        (T.HEARTBEAT,),
        lambda s, e: True,
        lambda x: does(x, fx.WarnSilentJob) and _kinds(x.after) == _kinds(x.before),
    ),
    Promise(
        "a long wait is explained to the user",
        (T.FEEDBACK,),
        lambda s, e: True,
        lambda x: x.effects == (fx.ShowWait(_call(x), 1),) and _kinds(x.after) == _kinds(x.before),
    ),
    Promise(
        "the brain gets the output of a call that ends",
        (ev.JobFinished, ev.JobFailed, T.JOB),
        lambda s, e: _kind(s, e) in FOREGROUND and not getattr(e, "quiet", False),
        lambda x: _ends(x, fx.PostOutput(_call(x), _outcome(x.event))) and _brain_learns(x),
    ),
    Promise(
        "a tool call that ends quietly gets its output, but the output isn't news for the brain",
        (ev.JobFinished,),
        lambda s, e: _kind(s, e) in FOREGROUND and e.quiet,
        lambda x: (
            _ends(x, fx.PostOutput(_call(x), Outcome.DONE))
            and x.after.answered == x.before.answered
            and (x.after.news == x.before.news or does(x, fx.StartReply))
        ),
    ),
    Promise(
        "the end of a dispatched job becomes news for the brain",
        (ev.JobFinished, ev.JobFailed, T.JOB),
        lambda s, e: _kind(s, e) is JobKind.DISPATCHED,
        lambda x: _ends(x, fx.PostNews(_call(x), _outcome(x.event))) and _brain_learns(x),
    ),
    Promise(
        "cancelled work ends immediately and causes no request by itself",
        (ev.CancelRequested,),
        lambda s, e: _kind(s, e) is not JobKind.ABSENT,
        lambda x: (
            _job(x.after, x.event) is None
            and fx.CancelWork(_call(x)) in x.effects
            and (x.after.news == x.before.news or does(x, fx.StartReply))
            and (never(x, fx.StartReply) or x.before.news or x.before.said > x.before.asked)
        ),
    ),
    Promise(
        "cancelling the last open call also cancels the answer that waits for it",
        (ev.CancelRequested,),
        lambda s, e: _kind(s, e) in FOREGROUND and sum(job.kind in FOREGROUND for job in s.jobs) == 1,
        lambda x: x.after.answered == x.before.asked,
    ),
    Promise(
        "a barge-in drops only calls that are marked as cancellable",
        _TAKES_FLOOR,
        lambda s, e: s.link in ACTIVE and bool(s.jobs),
        lambda x: [(job.kind, job.cancellable) for job in x.after.jobs] == _survivors(x),
    ),
    Promise(
        "when the last call ends and the floor is free, the answer continues immediately",
        (ev.JobFinished, ev.JobFailed, T.JOB),
        lambda s, e: (
            _kind(s, e) in FOREGROUND
            and not getattr(e, "quiet", False)
            and len(s.jobs) == 1
            and s.link.value == "up"
            and s.reply is Reply.NONE
            and s.voice is Voice.SILENT
            and s.user.value == "quiet"
        ),
        lambda x: does(x, fx.StartReply),
    ),
)


def _call(step: CheckedStep) -> int:
    call: int = step.event.call  # type: ignore[attr-defined]
    return call
