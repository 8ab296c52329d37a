"""What must never happen: the laws, as checks on one step and on one state.

Each check gets what the machine did and says in one line what is wrong, or nothing. What needs the
whole graph (never stuck, left alone it ends) is in `verdict`. Rule: a law reads the state and the
effects, never the rows; otherwise a broken row would excuse itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.deadlines import LIMITS
from duologue.core.leaves import (
    CLOSED,
    FOREGROUND,
    LIVE,
    SOUNDING,
    TIMER_INDEX,
    JobKind,
    Leaf,
    Link,
    Outcome,
    Reply,
    User,
    Voice,
    Words,
)
from duologue.core.state import State, is_sounding

_AT_REST: tuple[Leaf, ...] = (Link.IDLE, Link.UP, User.QUIET, Voice.SILENT, Reply.NONE)
_HARD: dict[Leaf, tuple[int, ...]] = {
    leaf: tuple(TIMER_INDEX[limit.timer] for limit in LIMITS if limit.hard and leaf in limit.leaves)
    for region in (Link, User, Voice, Reply)
    for leaf in region
    if leaf not in _AT_REST
}


class CheckedStep(NamedTuple):
    """One step of the machine, before and after."""

    before: State
    event: ev.Event
    after: State
    effects: tuple[fx.Effect, ...]

    def did(self, kind: type[fx.Effect]) -> list[fx.Effect]:
        return [effect for effect in self.effects if type(effect) is kind]


def check_state(s: State) -> Iterator[tuple[str, str]]:
    """Laws about one state."""
    for leaf in (s.link, s.user, s.voice, s.reply):
        if leaf not in _AT_REST and not any(s.due[index] for index in _HARD[leaf]):
            yield "1 never stuck", f"{leaf!r} has no hard deadline"
    for job in s.jobs:
        if not job.due:
            yield "1 never stuck", f"{job.kind!r} has no hard deadline"
    if not s.answered <= s.asked <= s.said <= s.turn:
        yield "8 no input lost", f"answered {s.answered}, asked {s.asked}, said {s.said}, turn {s.turn}"
    if (s.link is Link.FAULTED) != (s.fault is not None):
        yield "7 every view is honest", "a fault is shown exactly while there is one"
    if s.voice is not Voice.SILENT and s.reply is not Reply.NONE:
        yield "3 once", "a request is open while another reply sounds"
    if s.link not in LIVE and (s.voice is not Voice.SILENT or s.reply is not Reply.NONE):
        yield "4 said and heard agree", "sound or a request on a dead line"
    if s.link in CLOSED and (s.jobs or s.said > s.answered or s.user is not User.QUIET):
        yield "8 no input lost", "a closed line still holds something"


def check_step(step: CheckedStep) -> Iterator[tuple[str, str]]:
    """Laws about one step."""
    yield from _once(step)
    yield from _one_output(step)
    yield from _said_and_heard(step)
    yield from _no_input_lost(step)


def _once(step: CheckedStep) -> Iterator[tuple[str, str]]:
    starts = step.did(fx.StartReply)
    if len(starts) > 1:
        yield "3 once", f"{len(starts)} requests in one step"
    if starts and step.before.reply not in (Reply.NONE, Reply.RETRYING) and not step.did(fx.CancelReply):
        yield "3 once", "a request while one is open"
    if starts and step.after.link is not Link.UP:
        yield "3 once", "a request on a line that isn't up"
    left = step.before.reply not in (Reply.NONE, Reply.RETRYING) and step.after.reply_id != step.before.reply_id
    ended = isinstance(step.event, ev.ReplyFinished)
    if left and not ended and not step.did(fx.CancelReply):
        yield "3 once", "a request was dropped without its cancel"


def _one_output(step: CheckedStep) -> Iterator[tuple[str, str]]:
    if not step.before.jobs and not isinstance(step.event, ev.ToolCalled):
        if step.did(fx.PostOutput) or step.did(fx.PostNews):
            yield "3 once", "an output without a call"
        return
    after = {job.call: job.kind for job in step.after.jobs}
    outputs = [effect.call for effect in step.effects if isinstance(effect, fx.PostOutput)]
    ends = [
        effect.call
        for effect in step.effects
        if isinstance(effect, fx.PostNews) and effect.outcome is not Outcome.NEEDS_INPUT
    ]
    for job in step.before.jobs:
        kind = after.get(job.call, JobKind.ABSENT)
        answered = job.kind in FOREGROUND and kind not in FOREGROUND
        if outputs.count(job.call) != answered:
            yield "3 once", f"{outputs.count(job.call)} outputs for a {job.kind.value} that became {kind.value}"
        ended = job.kind is JobKind.DISPATCHED and kind is JobKind.ABSENT
        if ends.count(job.call) != ended:
            yield "3 once", f"{ends.count(job.call)} ends for a {job.kind.value} that became {kind.value}"
    if isinstance(step.event, ev.ToolCalled) and step.after is not step.before:
        accepted = step.event.call in after
        if outputs.count(step.event.call) != (not accepted):
            yield "3 once", "a call was neither taken nor answered, or both"


_ENDS_SOUND = (
    ev.PlaybackFinished,
    ev.PlaybackStopped,
    ev.PlaybackFailed,
    ev.TimerFired,
    ev.EndRequested,
    ev.SessionFailed,
    ev.LinkClosed,
    ev.LinkWobbled,
    ev.ReconnectRequested,
    ev.ReplyFailed,
    ev.ServiceFailed,
)


def _said_and_heard(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after, event = step.before, step.after, step.event
    if not step.effects and before.voice is after.voice and before.link is after.link:
        return
    starts = step.did(fx.StartPlayback)
    if (starts or step.did(fx.ResumePlayback)) and after.link is not Link.UP:
        yield "4 said and heard agree", "sound starts on a line that isn't healthy"
    if starts and (before.user is not User.QUIET or before.voice is not Voice.SILENT) and after.user is not User.QUIET:
        yield "4 said and heard agree", "sound starts over the user"
    if bool(starts) != (before.voice is Voice.SILENT and after.voice in SOUNDING):
        yield "4 said and heard agree", "sound and StartPlayback disagree"
    played_out = before.voice in SOUNDING and isinstance(event, ev.PlaybackFinished)
    cut = before.voice in SOUNDING and after.voice not in SOUNDING and not played_out
    if len(step.did(fx.StopPlayback)) != cut:
        yield "4 said and heard agree", "sound that stops before its end must be stopped exactly once"
    over = before.voice is not Voice.SILENT and after.voice is Voice.SILENT
    truncated = step.did(fx.TruncateReply)
    if len(truncated) != (over and not played_out):
        yield "4 said and heard agree", "a sound cut short must be truncated exactly once"
    if truncated:
        heard_ms = max(before.heard_ms, getattr(event, "heard_ms", 0))
        if truncated != [fx.TruncateReply(before.voice_id, heard_ms)]:
            yield "4 said and heard agree", f"truncated at {truncated}, heard {heard_ms} ms"
    if over and not isinstance(event, _ENDS_SOUND):
        yield "6 every sentence ends", f"{type(event).__name__} ends a sound"
    yield from _held(step)


def _held(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after = step.before, step.after
    same = before.voice_id == after.voice_id and before.voice in SOUNDING and after.voice in SOUNDING
    held = same and is_sounding(before) and not is_sounding(after)
    resumed = same and not is_sounding(before) and is_sounding(after)
    if len(step.did(fx.HoldPlayback)) != held:
        yield "4 said and heard agree", "sound and HoldPlayback disagree"
    if len(step.did(fx.ResumePlayback)) != resumed:
        yield "4 said and heard agree", "sound and ResumePlayback disagree"


def _no_input_lost(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after, event = step.before, step.after, step.event
    if after.answered > before.answered and after.link not in CLOSED and not _may_answer(step):
        yield "8 no input lost", f"answered moves by {type(event).__name__}"
    lost = step.did(fx.ReportLost)
    owed = before.said > before.answered
    if after.link in CLOSED and before.link not in CLOSED and owed and not (lost or _may_answer(step)):
        yield "8 no input lost", "the line closes over an owed turn in silence"
    had_words = before.user is not User.QUIET and before.words is not Words.NONE
    closed = had_words and (after.user is User.QUIET or after.turn > before.turn) and after.link not in CLOSED
    kept = after.said >= before.turn or any(
        isinstance(effect, fx.RecordOverheard) and effect.turn == before.turn for effect in step.effects
    )
    if closed and not kept and not _takes_back(before, event):
        yield "8 no input lost", "a turn with words ends, neither said nor overheard"
    if after.said < before.said and after.link not in CLOSED:
        yield "8 no input lost", "said goes back"


def _takes_back(s: State, e: ev.Event) -> bool:
    """Does the transcriber say for good that nothing was said in this turn?"""
    return isinstance(e, ev.WordsHeard) and e.turn == s.turn and e.final and e.words == 0


def _may_answer(step: CheckedStep) -> bool:
    """Was something heard or shown, cancelled by the person, or reported as lost?"""
    if step.did(fx.ReportLost):
        return True
    if isinstance(step.event, ev.InterruptRequested | ev.CancelRequested | ev.PlaybackFinished | ev.ReplyFinished):
        return True
    return any(isinstance(effect, fx.TruncateReply) and effect.heard_ms > 0 for effect in step.effects)


def check_pause(paused: CheckedStep, resumed: CheckedStep, same: bool) -> Iterator[tuple[str, str]]:
    """A pause and its end are the identity, up to shifted due times."""
    allowed = (fx.HoldPlayback, fx.ResumePlayback)
    if not same:
        yield "9 suspend then resume", "the state differs after a pause"
    if any(type(effect) not in allowed for effect in (*paused.effects, *resumed.effects)):
        yield "9 suspend then resume", "a pause does more than hold and resume"


def describe(s: State) -> str:
    """A state in one line, for traces."""
    jobs = ",".join(job.kind.value for job in s.jobs) or "-"
    return f"{s.link.value}/{s.user.value}/{s.voice.value}/{s.reply.value}/{jobs}"


def hard_deadline_leaves() -> Sequence[Leaf]:
    """Leaves that must own a hard deadline and do not: empty, or the table is wrong."""
    return [leaf for leaf, owned in _HARD.items() if not owned]
