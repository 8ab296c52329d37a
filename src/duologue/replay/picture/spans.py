"""The spans of a conversation: sounds, requests, tool calls, faults and turns, each with its beginning and end. For a
cue, only the beginning is known.

The span of a sound or request ends when its id is no longer in the state. The span of a job or a fault ends when the
job or fault is no longer in the state. Times count from the start of the conversation. Rule: the outcome of a span is
read from the step that ended it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import SOUNDING, Ask, Link, Outcome, Reply, Timer, User
from duologue.core.state import Fault
from duologue.observe.view_history import cause_of

from ..journal import StepRecord
from ..timeline import Visit

GOES_ON = "goes on"
CUT = "cut short"


class SoundSpan(NamedTuple):
    """The sound of one reply."""

    voice: int
    reply: int
    since_ms: int
    end_ms: int
    progress: tuple[tuple[int, int], ...]  # pairs: a time, and how many milliseconds were heard by then
    cut_by: str  # the event that stopped the sound, if it was cut short
    outcome: str

    @property
    def heard_ms(self) -> int:
        return self.progress[-1][1]


class RequestSpan(NamedTuple):
    """One request to the brain (which produces the replies). It lasts until the last sound of the answer."""

    reply: int
    asks: str
    since_ms: int
    end_ms: int
    token_ms: int | None  # when the first token arrived
    audio_ms: int | None
    outcome: str


class WorkSpan(NamedTuple):
    """One tool call or job, with the times that it spent in each leaf (innermost state) of the region `jobs`."""

    call: int
    stays: tuple[Visit, ...]
    outcome: str

    @property
    def since_ms(self) -> int:
        return self.stays[0].since_ms

    @property
    def end_ms(self) -> int:
        return self.stays[-1].end_ms


class Shown(NamedTuple):
    """A fault, with the time at which it was first shown and the time at which it was no longer shown."""

    since_ms: int
    end_ms: int
    what: str
    cause: str


class CueMark(NamedTuple):
    """A cue (a short sound or phrase for a person who waits) that was given. A cue doesn't belong to a reply, and the
    journal doesn't say how long it was heard."""

    at_ms: int
    what: str
    cause: str


class TurnSpan(NamedTuple):
    """One turn, from the user's first sound to the end of the turn."""

    turn: int
    since_ms: int
    end_ms: int


class Spans(NamedTuple):
    sounds: tuple[SoundSpan, ...]
    requests: tuple[RequestSpan, ...]
    calls: tuple[WorkSpan, ...]
    faults: tuple[Shown, ...]
    turns: tuple[TurnSpan, ...]
    cues: tuple[CueMark, ...]


def newest(records: Sequence[StepRecord]) -> Sequence[StepRecord]:
    """The steps of the newest conversation, from its beginning on. Empty if no conversation has begun."""
    starts = [n for n, m in enumerate(records) if m.before.link is Link.IDLE and m.after.link is not Link.IDLE]
    return records[starts[-1] :] if starts else ()


def read_spans(records: Sequence[StepRecord]) -> Spans:
    """All spans in these steps of one conversation."""
    return Spans(
        tuple(_sounds(records)), tuple(_requests(records)), tuple(_calls(records)), tuple(_faults(records)),
        tuple(_turns(records)), tuple(_cues(records)),
    )  # fmt: skip


def _clock(records: Sequence[StepRecord]) -> tuple[int, int]:
    """The time of the first step on the journal's clock, and the time from the first to the last step, both in
    milliseconds. Both are 0 if there are no steps."""
    began = records[0].event.at if records else 0
    return began, records[-1].event.at - began if records else 0


def _sounds(records: Sequence[StepRecord]) -> list[SoundSpan]:
    began, end_ms = _clock(records)
    found: list[SoundSpan] = []
    sound: SoundSpan | None = None
    for record in records:
        at_ms = record.event.at - began
        if sound:
            sound = _go_on(sound, record, at_ms)
            if record.after.voice_id != sound.voice:
                found.append(_end_sound(sound, record, at_ms))
                sound = None
        for effect in record.effects:
            if isinstance(effect, fx.StartPlayback):
                sound = SoundSpan(effect.voice, effect.reply, at_ms, end_ms, ((at_ms, 0),), "", GOES_ON)
    return [*found, sound] if sound else found


def _go_on(sound: SoundSpan, record: StepRecord, at_ms: int) -> SoundSpan:
    if any(isinstance(effect, fx.StopPlayback) for effect in record.effects):
        sound = sound._replace(cut_by=cause_of(record.event))
    if record.after.voice_id == sound.voice and record.after.heard_ms > sound.heard_ms:
        sound = sound._replace(progress=(*sound.progress, (at_ms, record.after.heard_ms)))
    return sound


def _end_sound(sound: SoundSpan, record: StepRecord, at_ms: int) -> SoundSpan:
    cuts = [effect.heard_ms for effect in record.effects if isinstance(effect, fx.TruncateReply)]
    event = record.event
    heard_ms = cuts[0] if cuts else event.heard_ms if isinstance(event, ev.PlaybackFinished) else sound.heard_ms
    ended = sound._replace(end_ms=at_ms, progress=(*sound.progress, (at_ms, max(heard_ms, sound.heard_ms))))
    if not cuts:
        return ended._replace(outcome="heard to its end")
    return ended._replace(outcome=CUT, cut_by=sound.cut_by or cause_of(event))


def _requests(records: Sequence[StepRecord]) -> list[RequestSpan]:
    began, end_ms = _clock(records)
    found: list[RequestSpan] = []
    request: RequestSpan | None = None
    for record in records:
        at_ms = record.event.at - began
        if request and record.after is not record.before:
            if isinstance(record.event, ev.TokenArrived):
                request = request._replace(token_ms=at_ms)
            if isinstance(record.event, ev.AudioBuffered) and request.audio_ms is None:
                request = request._replace(audio_ms=at_ms)
            if record.after.reply_id != request.reply:
                found.append(request._replace(end_ms=at_ms, outcome=_answered(record)))
                request = None
        for effect in record.effects:
            if isinstance(effect, fx.StartReply):
                request = RequestSpan(effect.reply, _asks(effect), at_ms, end_ms, None, None, GOES_ON)
    return [*found, request] if request else found


def _asks(effect: fx.StartReply) -> str:
    if effect.ask is not Ask.ANSWER:
        return str(effect.ask.value).replace("_", "-")
    if effect.last < effect.first:
        return "news"
    return f"turn {effect.first}" if effect.first == effect.last else f"turns {effect.first} to {effect.last}"


def _answered(record: StepRecord) -> str:
    """The outcome of the request to the brain that this step ended."""
    event, before = record.event, record.before
    if isinstance(event, ev.PlaybackFinished):
        return "heard"
    if isinstance(event, ev.ReplyFinished):
        return "made a call" if before.called else "shown"
    if before.voice in SOUNDING:
        return CUT
    again = ", retried" if record.after.reply is Reply.RETRYING else ""
    if isinstance(event, ev.ReplyFailed):
        return f"failed{again}"
    if isinstance(event, ev.ReplyWasEmpty):
        return f"empty{again}"
    late = isinstance(event, ev.TimerFired) and event.timer in (Timer.ATTEMPT, Timer.ANSWER)
    return f"timed out{again}" if late else "dropped"


def _calls(records: Sequence[StepRecord]) -> list[WorkSpan]:
    began, end_ms = _clock(records)
    calls: dict[int, WorkSpan] = {}
    for record in records:
        at_ms, cause = record.event.at - began, cause_of(record.event)
        for job in record.after.jobs:
            stays = calls[job.call].stays if job.call in calls else ()
            if not stays or stays[-1].state != job.kind.value:
                stay = Visit(job.kind.value, at_ms, end_ms - at_ms, cause)
                calls[job.call] = WorkSpan(job.call, (*_ended(stays, at_ms), stay), GOES_ON)
        running = [job.call for job in record.after.jobs]
        for effect in record.effects:
            if isinstance(effect, fx.PostOutput | fx.PostNews) and effect.call not in running:
                never_ran = Visit("refused" if effect.outcome is Outcome.REFUSED else "tool", at_ms, 0, cause)
                stays = _ended(calls[effect.call].stays, at_ms) if effect.call in calls else (never_ran,)
                calls[effect.call] = WorkSpan(effect.call, stays, effect.outcome.value.replace("_", " "))
    return list(calls.values())


def _ended(stays: tuple[Visit, ...], at_ms: int) -> tuple[Visit, ...]:
    return (*stays[:-1], stays[-1]._replace(duration_ms=at_ms - stays[-1].since_ms)) if stays else ()


def _faults(records: Sequence[StepRecord]) -> list[Shown]:
    began, end_ms = _clock(records)
    found: list[Shown] = []
    for record in records:
        before, after = record.before.fault, record.after.fault
        at_ms = record.event.at - began
        if before and before != after:
            found[-1] = found[-1]._replace(end_ms=at_ms)
        if after and after != before:
            found.append(Shown(at_ms, end_ms, _say(after), cause_of(record.event)))
    return found


def _say(fault: Fault) -> str:
    return f"{fault.part.value}, {fault.error.value.lower().replace('_', ' ')}{', fatal' if fault.fatal else ''}"


def _turns(records: Sequence[StepRecord]) -> list[TurnSpan]:
    began, end_ms = _clock(records)
    found: list[TurnSpan] = []
    for record in records:
        at_ms = record.event.at - began
        begins = record.after.turn > record.before.turn
        if found and record.before.user is not User.QUIET and (begins or record.after.user is User.QUIET):
            found[-1] = found[-1]._replace(end_ms=at_ms)
        if begins:
            still_open = record.after.user is not User.QUIET
            found.append(TurnSpan(record.after.turn, at_ms, end_ms if still_open else at_ms))
    return found


def _cues(records: Sequence[StepRecord]) -> list[CueMark]:
    began, _ = _clock(records)
    return [
        CueMark(record.event.at - began, effect.cue.value.replace("_", " "), cause_of(record.event))
        for record in records
        for effect in record.effects
        if isinstance(effect, fx.PlayCue)
    ]
