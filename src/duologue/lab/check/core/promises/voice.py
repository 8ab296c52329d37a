"""Promises about the sound: holding, resuming, interrupting, stopping and ending it."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    ENDING,
    LIVE,
    SOUNDING,
    TIMER_INDEX,
    Ask,
    ErrorClass,
    Link,
    Overlap,
    Reply,
    Timer,
    User,
    Voice,
)
from duologue.core.state import State, has_foreground, is_owed

from ..laws import CheckedStep
from .promise import Promise, does, goes, never

T = Timer
_TAKES_FLOOR = (ev.SpeechStarted, ev.PttPressed, ev.TextTyped, ev.InterruptRequested, ev.OverlapJudged)
_STOPPED = (ev.PlaybackStopped, ev.PlaybackFinished, ev.PlaybackFailed)


def _takes(s: State, e: ev.Event) -> bool:
    if isinstance(e, ev.SpeechStarted):
        return s.settings.overlap is Overlap.IMMEDIATE
    return not isinstance(e, ev.OverlapJudged) or e.bid


def _sounding(s: State) -> bool:
    return s.link in LIVE and s.voice in SOUNDING


def _expires(e: ev.Event) -> bool:
    return getattr(e, "error", None) is ErrorClass.SESSION_EXPIRED


def _breathing(s: State) -> bool:
    return s.due[TIMER_INDEX[T.BREATH]] > 0


def _interrupted(step: CheckedStep) -> bool:
    """Silence in the same step: stopped, cancelled, its id gone."""
    return (
        goes(step, Voice.STOPPING)
        and does(step, fx.StopPlayback, fx.CancelReply)
        and step.after.reply_id > step.before.reply_id
        and step.after.ask is Ask.ANSWER
    )


def _silent(step: CheckedStep) -> bool:
    """Truncated at what was heard; heard, it was the answer, unheard, the turns are owed again, but
    stay asked while calls run that will go on with them."""
    truncated = [effect for effect in step.effects if isinstance(effect, fx.TruncateReply)]
    if step.after.voice is not Voice.SILENT or len(truncated) != 1:
        return False
    settled = step.before.asked if truncated[0].heard_ms else step.before.answered
    asked = step.before.asked if has_foreground(step.after) else settled
    return step.after.answered == settled and step.after.asked == asked


VOICE_PROMISES: tuple[Promise, ...] = (
    Promise(
        "in `confirm` the onset holds playback in the same step",
        (ev.SpeechStarted,),
        lambda s, e: s.link is Link.UP and s.voice is Voice.PLAYING and s.settings.overlap is Overlap.CONFIRM,
        lambda x: goes(x, Voice.HELD) and does(x, fx.HoldPlayback) and never(x, fx.CancelReply),
    ),
    Promise(
        "in `words` the onset changes nothing in the sound",
        (ev.SpeechStarted,),
        lambda s, e: _sounding(s) and s.settings.overlap is Overlap.WORDS,
        lambda x: x.after.voice is x.before.voice and never(x, fx.HoldPlayback, fx.StopPlayback),
    ),
    Promise(
        "an interruption stops the sound in the same step",
        _TAKES_FLOOR,
        lambda s, e: _sounding(s) and _takes(s, e),
        _interrupted,
    ),
    Promise(
        "an interruption by command wants no answer",
        (ev.InterruptRequested,),
        lambda s, e: _sounding(s),
        lambda x: x.after.answered == x.before.asked and not x.after.telling,
    ),
    Promise(
        "a bid that was overheard first is a turn after all",
        (ev.OverlapJudged,),
        lambda s, e: _sounding(s) and e.bid and s.overheard > s.said,
        lambda x: x.after.said == x.before.overheard,
    ),
    Promise(
        "a command to stop also counts while it is stopping",
        (ev.InterruptRequested,),
        lambda s, e: s.link in LIVE and s.voice in ENDING,
        lambda x: x.after.answered == x.before.asked and not x.after.telling and x.after.voice is x.before.voice,
    ),
    Promise(
        "late text of the question, before anything was heard, starts over",
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
        "other words leave the sound to the verdict",
        (ev.WordsHeard,),
        lambda s, e: _sounding(s) and (e.turn > s.asked or s.heard_ms > 0 or has_foreground(s)),
        lambda x: x.after.voice is x.before.voice,
    ),
    Promise(
        "a harmless sound resumes playback from the held sample",
        (ev.OverlapJudged, T.OVERLAP, T.LULL),
        lambda s, e: s.link is Link.UP and s.voice is Voice.HELD and not getattr(e, "bid", False),
        lambda x: x.effects == (fx.ResumePlayback(x.before.voice_id),) and goes(x, Voice.PLAYING),
    ),
    Promise(
        "silence alone does not resume, it only shortens the wait",
        (ev.SpeechStopped,),
        lambda s, e: _sounding(s),
        lambda x: (
            x.after.voice is x.before.voice and (x.after.due[TIMER_INDEX[T.LULL]] > 0) == (x.before.voice is Voice.HELD)
        ),
    ),
    Promise(
        "a sound that goes on waits for its verdict again",
        (ev.SpeechStarted,),
        lambda s, e: _sounding(s) and s.voice is Voice.HELD,
        lambda x: goes(x, Voice.HELD) and not x.after.due[TIMER_INDEX[T.LULL]],
    ),
    Promise(
        "what is played is heard",
        (ev.PlaybackProgressed,),
        lambda s, e: s.link in LIVE and s.voice is not Voice.SILENT and e.heard_ms > s.heard_ms,
        lambda x: x.after.heard_ms == x.event.heard_ms,  # type: ignore[attr-defined]
    ),
    Promise(
        "a sound played to its end is the answer",
        (ev.PlaybackFinished,),
        lambda s, e: _sounding(s),
        lambda x: (
            goes(x, Voice.SILENT)
            and x.after.answered >= x.before.asked
            and x.after.faults_in_a_row == 0
            and x.after.reply_id > x.before.reply_id
            and never(x, fx.TruncateReply, fx.StopPlayback)
        ),
    ),
    Promise(
        "the floor is seen to open between two turns",
        (ev.PlaybackFinished, T.STOP, T.BREATH),
        lambda s, e: s.link is Link.UP and s.voice is not Voice.SILENT,
        lambda x: (
            never(x, fx.StartReply)
            and (
                x.after.link is not Link.UP
                or x.after.voice is not Voice.SILENT
                or x.after.user is not User.QUIET
                or has_foreground(x.after)
                or (x.after.due[TIMER_INDEX[T.BEAT]] > 0) == is_owed(x.after)
            )
        ),
    ),
    Promise(
        "a long speech only warns",
        (T.LONG_SPEECH,),
        lambda s, e: _sounding(s),
        lambda x: does(x, fx.WarnLongSpeech) and x.after.voice is x.before.voice,
    ),
    Promise(
        "a stop confirmed before the breath is over waits for it",
        _STOPPED,
        lambda s, e: s.link in LIVE and s.voice is Voice.STOPPING and _breathing(s) and not _expires(e),
        lambda x: goes(x, Voice.HUSHED) and x.after.heard_ms >= getattr(x.event, "heard_ms", 0),
    ),
    Promise(
        "a stop confirmed after the breath is silence",
        _STOPPED,
        lambda s, e: s.link in LIVE and s.voice is Voice.STOPPING and not _breathing(s) and not _expires(e),
        _silent,
    ),
    Promise("after the breath it is silent", (T.BREATH,), lambda s, e: s.voice is Voice.HUSHED, _silent),
    Promise(
        "the breath alone is not silence",
        (T.BREATH,),
        lambda s, e: s.voice is Voice.STOPPING,
        lambda x: goes(x, Voice.STOPPING),
    ),
    Promise("stopping can't last", (T.STOP,), lambda s, e: s.voice in ENDING, _silent),
    Promise(
        "a resumed line lets a ready reply speak",
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
