"""The jobs region: which work is running? Each tool call, delegated job and dispatched job has a record with deadlines.

Each record is a small state machine of its own. It begins as absent, becomes a tool call, may become a delegated or
dispatched job, and ends as absent. Rule: a tool call gets exactly one output, and a job ends exactly once. If the
person interrupts the agent, only work that is marked as cancellable is cancelled.
"""

from __future__ import annotations

from .answers import mark_answered
from .draft import Draft
from .effects import CancelWork, PostNews, PostOutput, RunCall, ShowProgress, ShowWait, WarnSilentJob
from .events import (
    CallDelegated,
    CallDispatched,
    CancelRequested,
    Event,
    InterruptRequested,
    JobAsked,
    JobFailed,
    JobFinished,
    JobProgressed,
    TimerFired,
    ToolCalled,
)
from .leaves import FOREGROUND, SOUNDING, JobKind, Outcome, Timer
from .rows import Row, row
from .state import JobRecord, State, has_foreground
from .voice import TAKES_FLOOR, takes_floor

# -- Guards


def has_room(s: State, e: Event, job: JobRecord) -> bool:
    return len(s.jobs) < s.settings.jobs_max


def is_talked_over(s: State, e: Event, job: JobRecord) -> bool:
    """Does the person interrupt the agent with this event, and is this work cancellable?"""
    interrupted = isinstance(e, InterruptRequested) or (s.voice in SOUNDING and takes_floor(s, e))
    return job.cancellable and interrupted


def needs_no_request(s: State, e: JobFinished, job: JobRecord) -> bool:
    return e.quiet


# -- Actions


def run_call(d: Draft, e: ToolCalled, job: JobRecord) -> None:
    d.call_id = e.call
    d.emit(RunCall(e.call))


def refuse_call(d: Draft, e: ToolCalled, job: JobRecord) -> None:
    d.call_id = e.call
    d.news = True
    d.emit(PostOutput(e.call, Outcome.REFUSED))


def acknowledge(d: Draft, e: Event, job: JobRecord) -> None:
    """Give the tool call its one output now, because the job continues in the background. The result of the job will be
    sent to the brain later, as news."""
    d.news = True
    d.emit(PostOutput(job.call, Outcome.NEEDS_INPUT if isinstance(e, JobAsked) else Outcome.STARTED))


def pass_question_on(d: Draft, e: Event, job: JobRecord) -> None:
    d.news = True
    d.emit(PostNews(job.call, Outcome.NEEDS_INPUT))


def end_call(d: Draft, e: Event, job: JobRecord) -> None:
    d.news = True
    d.emit(PostOutput(job.call, _end_work(d, e, job)))


def end_job(d: Draft, e: Event, job: JobRecord) -> None:
    d.news = True
    d.emit(PostNews(job.call, _end_work(d, e, job)))


def _end_work(d: Draft, e: Event, job: JobRecord) -> Outcome:
    """If the work has timed out, cancel it; the runtime then uses the partial result. Returns how the work ended."""
    if isinstance(e, TimerFired):
        d.emit(CancelWork(job.call))
        return Outcome.TIMED_OUT
    return Outcome.DONE if isinstance(e, JobFinished) else Outcome.FAILED


def end_quietly(d: Draft, e: Event, job: JobRecord) -> None:
    """Give the tool call its output, but send no request about it to the brain, because the reply that made the tool
    call has also answered the person. If the person heard nothing of that answer, the brain is asked for the answer
    again."""
    d.emit(PostOutput(job.call, Outcome.DONE))


def cancel_work(d: Draft, e: Event, job: JobRecord) -> None:
    """Cancel the work, and send no request about it to the brain. If the conversation waits for no other tool call, the
    person's question counts as answered."""
    drop_work(d, job)
    if job.kind in FOREGROUND and not has_foreground(d):
        mark_answered(d)


def cancel_talked_over(d: Draft, e: Event, job: JobRecord) -> None:
    """Cancel the work, because the person has interrupted the agent. If the interruption was a command
    (InterruptRequested), the person's question is cancelled too; if it was speech, the question stays."""
    if isinstance(e, InterruptRequested):
        cancel_work(d, e, job)
    else:
        drop_work(d, job)


def drop_work(d: Draft, job: JobRecord) -> None:
    """Cancel the work, and report this to the brain: as the output of a tool call that is still open, or as news of a
    dispatched job."""
    d.emit(CancelWork(job.call))
    ended = PostOutput if job.kind in FOREGROUND else PostNews
    d.emit(ended(job.call, Outcome.CANCELLED))


def show_progress(d: Draft, e: Event, job: JobRecord) -> None:
    """Show the progress, and restart the deadline for the next sign of progress."""
    heartbeat_ms = d.owners.jobs[job.kind](d).heartbeat_ms
    d.amend_job(job.call, heartbeat_due=heartbeat_ms and d.now() + heartbeat_ms)
    d.emit(ShowProgress(job.call))


def warn_silent(d: Draft, e: Event, job: JobRecord) -> None:
    d.emit(WarnSilentJob(job.call))


def show_wait(d: Draft, e: Event, job: JobRecord) -> None:
    """Show feedback to the waiting person, and set the deadline for the next feedback."""
    stages_ms = d.settings.feedback_ms
    stage = job.stage + 1
    rest_ms = stages_ms[stage] - stages_ms[stage - 1] if stage < len(stages_ms) else 0
    d.amend_job(job.call, stage=stage, feedback_due=rest_ms and d.now() + rest_ms)
    d.emit(ShowWait(job.call, stage))


J, T = JobKind, Timer
_RUNNING = (J.TOOL, J.DELEGATED, J.DISPATCHED)

JOB_ROWS: tuple[Row, ...] = (
    row(J.ABSENT, ToolCalled, J.TOOL, run_call, has_room),
    row(J.ABSENT, ToolCalled, None, refuse_call, why="too many jobs at once"),
    row(J.TOOL, CallDelegated, J.DELEGATED),
    row(J.TOOL, CallDispatched, J.DISPATCHED, acknowledge),
    row(FOREGROUND, JobAsked, J.DISPATCHED, acknowledge),
    row(J.DISPATCHED, JobAsked, None, pass_question_on),
    row(_RUNNING, JobProgressed, None, show_progress),
    row((J.DELEGATED, J.DISPATCHED), T.HEARTBEAT, None, warn_silent),
    row(FOREGROUND, T.FEEDBACK, None, show_wait),
    # Ending
    row(FOREGROUND, JobFinished, J.ABSENT, end_quietly, needs_no_request),
    row(FOREGROUND, (JobFinished, JobFailed, T.JOB), J.ABSENT, end_call),
    row(J.DISPATCHED, (JobFinished, JobFailed, T.JOB), J.ABSENT, end_job),
    row(_RUNNING, CancelRequested, J.ABSENT, cancel_work),
    row(FOREGROUND, TAKES_FLOOR, J.ABSENT, cancel_talked_over, is_talked_over),
)
