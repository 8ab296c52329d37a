"""Promises about playback: how it is held, resumed, interrupted, stopped and ended."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    ENDING,
    LIVE,
    SOUNDING,
    TIMER_INDEX,
    Ask,
    Ending,
    ErrorClass,
    Link,
    Overlap,
    Reply,
    Timer,
    User,
    Voice,
)
from duologue.core.state import State, floor_is_open, has_foreground, is_owed

from ..laws import CheckedStep
from .promise import Promise, does, goes, never

T = Timer
_TAKES_FLOOR = (ev.SpeechStarted, ev.PttPressed, ev.TextTyped, ev.InterruptRequested, ev.OverlapJudged)
_IN_PROGRESS = (Reply.COMMITTING, Reply.WAITING, Reply.GENERATING, Reply.READY)
_STOPPED = (ev.PlaybackStopped, ev.PlaybackFinished, ev.PlaybackFailed)


def _takes_floor(s: State, e: ev.Event) -> bool:
    if isinstance(e, ev.SpeechStarted):
        return s.settings.overlap is Overlap.IMMEDIATE and not s.firm
    return not isinstance(e, ev.OverlapJudged) or (e.bid and not s.firm)


def _sounding(s: State) -> bool:
    return s.link in LIVE and s.voice in SOUNDING


def _expires(e: ev.Event) -> bool:
    return getattr(e, "error", None) is ErrorClass.SESSION_EXPIRED


def _breathing(s: State) -> bool:
    return s.due[TIMER_INDEX[T.BREATH]] > 0


def _interrupted(step: CheckedStep) -> bool:
    """Does this step stop the playback and cancel the reply, so that the reply's id becomes stale?"""
    return (
        goes(step, Voice.STOPPING)
        and does(step, fx.StopPlayback, fx.CancelReply)
        and step.after.reply_id > step.before.reply_id
        and step.after.ask in (Ask.ANSWER, Ask.SAY)
    )


def _silent(step: CheckedStep) -> bool:
    """Did the step make the voice silent and truncate the reply exactly once? If any part of an answer was heard, its
    turns must be marked as answered. Otherwise its turns must stay unanswered, and the brain must be asked about them
    again, unless open tool calls will continue the answer."""
    truncated = [effect for effect in step.effects if isinstance(effect, fx.TruncateReply)]
    if step.after.voice is not Voice.SILENT or len(truncated) != 1:
        return False
    is_answer = truncated[0].heard_ms > 0 and step.before.ask is not Ask.SAY
    settled = step.before.asked if is_answer else step.before.answered
    asked = step.before.asked if has_foreground(step.after) else settled
    return step.after.answered == settled and step.after.asked == asked


VOICE_PROMISES: tuple[Promise, ...] = (
    Promise(
        "with overlap `confirm`, the start of speech holds playback in the same step",
        (ev.SpeechStarted,),
        lambda s, e: (
            s.link is Link.UP and s.voice is Voice.PLAYING and s.settings.overlap is Overlap.CONFIRM and not s.firm
        ),
        lambda x: goes(x, Voice.HELD) and does(x, fx.HoldPlayback) and never(x, fx.CancelReply),
    ),
    Promise(
        "with overlap `words`, the start of speech does not change playback",
        (ev.SpeechStarted,),
        lambda s, e: _sounding(s) and s.settings.overlap is Overlap.WORDS,
        lambda x: x.after.voice is x.before.voice and never(x, fx.HoldPlayback, fx.StopPlayback),
    ),
    Promise(
        "an interruption stops playback in the same step",
        _TAKES_FLOOR,
        lambda s, e: _sounding(s) and _takes_floor(s, e),
        _interrupted,
    ),
    Promise(
        "a reply that is open or playing becomes firm",
        (ev.ReplyBecameFirm,),
        lambda s, e: s.link in LIVE and (s.reply in _IN_PROGRESS or s.voice is Voice.PLAYING),
        lambda x: x.effects == () and x.after == x.before._replace(firm=True, at=x.after.at),
    ),
    Promise(
        "when a reply becomes firm while it is held, it resumes",
        (ev.ReplyBecameFirm,),
        lambda s, e: s.link in LIVE and s.voice is Voice.HELD,
        lambda x: (
            goes(x, Voice.PLAYING)
            and x.after.firm
            and does(x, fx.ResumePlayback) == (x.before.link is Link.UP)
            and x.after.user is x.before.user
        ),
    ),
    Promise(
        "speech over a firm reply neither holds nor interrupts it",
        (ev.SpeechStarted, ev.SpeechStopped, ev.OverlapJudged),
        lambda s, e: _sounding(s) and s.firm,
        lambda x: (
            goes(x, Voice.PLAYING)
            and x.after.firm
            and x.after.reply_id == x.before.reply_id
            and never(x, fx.HoldPlayback, fx.StopPlayback, fx.CancelReply)
        ),
    ),
    Promise(
        "a button, typed text or an interrupt request stops a firm reply too",
        (ev.PttPressed, ev.TextTyped, ev.InterruptRequested),
        lambda s, e: _sounding(s) and s.firm,
        lambda x: _interrupted(x) and not x.after.firm,
    ),
    Promise(
        "the next reply is not firm",
        (ev.PlaybackFinished, ev.ReplyFinished, ev.ReplyFailed, T.ATTEMPT, T.ANSWER),
        lambda s, e: s.firm and getattr(e, "reply", s.reply_id) == s.reply_id,
        lambda x: not x.after.firm or x.after.reply_id == x.before.reply_id,
    ),
    Promise(
        "after an interrupt request, the turns whose answer was cut off count as answered",
        (ev.InterruptRequested,),
        lambda s, e: _sounding(s),
        lambda x: x.after.answered == x.before.asked and not x.after.telling,
    ),
    Promise(
        "an overheard turn that proves to be a bid for the floor counts as a turn",
        (ev.OverlapJudged,),
        lambda s, e: _sounding(s) and e.bid and s.overheard > s.said and not s.firm,
        lambda x: x.after.said == x.before.overheard,
    ),
    Promise(
        "an interrupt request also counts while playback is stopping",
        (ev.InterruptRequested,),
        lambda s, e: s.link in LIVE and s.voice in ENDING,
        lambda x: x.after.answered == x.before.asked and not x.after.telling and x.after.voice is x.before.voice,
    ),
    Promise(
        "late words of the question stop an answer of which nothing was heard",
        (ev.WordsHeard,),
        lambda s, e: (
            _sounding(s)
            and e.substantial > 0
            and e.final
            and s.answered < e.turn <= s.asked
            and not s.heard_ms
            and not has_foreground(s)
        ),
        _interrupted,
    ),
    Promise(
        "other words do not change playback; the overlap verdict decides about it",
        (ev.WordsHeard,),
        lambda s, e: _sounding(s) and (e.turn > s.asked or s.heard_ms > 0 or has_foreground(s)),
        lambda x: x.after.voice is x.before.voice,
    ),
    Promise(
        "after speech that isn't a bid for the floor, playback resumes at the sample where it was held",
        (ev.OverlapJudged, T.OVERLAP, T.LULL),
        lambda s, e: s.link is Link.UP and s.voice is Voice.HELD and not getattr(e, "bid", False),
        lambda x: x.effects == (fx.ResumePlayback(x.before.voice_id),) and goes(x, Voice.PLAYING),
    ),
    Promise(
        "silence alone does not resume playback; it only shortens the wait for the verdict",
        (ev.SpeechStopped,),
        lambda s, e: _sounding(s),
        lambda x: (
            x.after.voice is x.before.voice and (x.after.due[TIMER_INDEX[T.LULL]] > 0) == (x.before.voice is Voice.HELD)
        ),
    ),
    Promise(
        "speech that starts again while playback is held waits for a new verdict",
        (ev.SpeechStarted,),
        lambda s, e: _sounding(s) and s.voice is Voice.HELD,
        lambda x: goes(x, Voice.HELD) and not x.after.due[TIMER_INDEX[T.LULL]],
    ),
    Promise(
        "playback progress updates how much was heard",
        (ev.PlaybackProgressed,),
        lambda s, e: s.link in LIVE and s.voice is not Voice.SILENT and e.heard_ms > s.heard_ms,
        lambda x: x.after.heard_ms == x.event.heard_ms,  # type: ignore[attr-defined]
    ),
    Promise(
        "a reply played to its end counts as the answer",
        (ev.PlaybackFinished,),
        lambda s, e: s.ask is not Ask.SAY and _sounding(s),
        lambda x: (
            goes(x, Voice.SILENT)
            and x.after.answered >= x.before.asked
            and x.after.faults_in_a_row == 0
            and x.after.reply_id > x.before.reply_id
            and never(x, fx.TruncateReply, fx.StopPlayback)
        ),
    ),
    Promise(
        "after playback, the next request waits for a beat",
        (ev.PlaybackFinished, T.STOP, T.BREATH),
        lambda s, e: s.link is Link.UP and s.voice is not Voice.SILENT,
        lambda x: (
            never(x, fx.StartReply)
            and (
                x.after.link is not Link.UP
                or x.after.voice is not Voice.SILENT
                or x.after.user is not User.QUIET
                or has_foreground(x.after)
                or (x.after.due[TIMER_INDEX[T.BEAT]] > 0) == (is_owed(x.after) or x.after.says)
            )
        ),
    ),
    Promise(
        "a long speech causes a warning and does not stop playback",
        (T.LONG_SPEECH,),
        lambda s, e: _sounding(s),
        lambda x: does(x, fx.WarnLongSpeech) and x.after.voice is x.before.voice,
    ),
    Promise(
        "a stop confirmed during the breath (the pause after an interruption) waits for its end",
        _STOPPED,
        lambda s, e: s.link in LIVE and s.voice is Voice.STOPPING and _breathing(s) and not _expires(e),
        lambda x: goes(x, Voice.HUSHED) and x.after.heard_ms >= getattr(x.event, "heard_ms", 0),
    ),
    Promise(
        "a stop confirmed after the breath makes the voice silent",
        _STOPPED,
        lambda s, e: s.link in LIVE and s.voice is Voice.STOPPING and not _breathing(s) and not _expires(e),
        _silent,
    ),
    Promise(
        "the end of the breath makes a stopped voice silent", (T.BREATH,), lambda s, e: s.voice is Voice.HUSHED, _silent
    ),
    Promise(
        "the end of the breath does not change a voice that is still stopping",
        (T.BREATH,),
        lambda s, e: s.voice is Voice.STOPPING,
        lambda x: goes(x, Voice.STOPPING),
    ),
    Promise("the stop deadline makes the voice silent", (T.STOP,), lambda s, e: s.voice in ENDING, _silent),
    Promise(
        "a question of the agent that was lost with the line is said again, if nothing else is owed",
        (ev.QuestionMissed,),
        lambda s, e: floor_is_open(s) and not is_owed(s) and not s.says and not s.cut and s.ending is Ending.NO,
        lambda x: x.after.cut and bool(x.after.due[TIMER_INDEX[T.OFFER]]),
    ),
    Promise(
        "an answer that a lost line cuts off is taken up again later",
        (ev.LinkClosed, ev.SessionEnded, ev.ReconnectRequested, T.HEAL, T.RENEW),
        lambda s, e: s.link in LIVE and s.voice in SOUNDING and s.heard_ms > 0 and s.ask in (Ask.ANSWER, Ask.OFFER),
        lambda x: x.after.link in LIVE or x.after.cut,
    ),
    Promise(
        "an answer that was cut off is taken up, or offered, once the line is back",
        (ev.SessionReady,),
        lambda s, e: s.cut and s.link is Link.RECONNECTING and s.user is User.QUIET and not s.jobs and not is_owed(s),
        lambda x: x.after.paused or (x.after.cut and bool(x.after.due[TIMER_INDEX[T.OFFER]])),
    ),
    Promise(
        "a ready reply is played as soon as the link is up again",
        (ev.ResumeRequested, ev.LinkHealed, ev.SessionReady),
        lambda s, e: (
            s.link in (Link.SUSPENDED, Link.HEALING, Link.RENEWING)
            and s.reply is Reply.READY
            and s.voice is Voice.SILENT
            and s.user is User.QUIET
        ),
        lambda x: x.after.link is not Link.UP or does(x, fx.StartPlayback),
    ),
)
