"""Promises about what the user hears while they wait, and about ending after the last words."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ACTIVE, LIVE, SOUNDING, TIMER_INDEX, Cue, Ending, Link, Timer, User, Voice, Words
from duologue.core.state import State, has_foreground

from ..laws import CheckedStep
from .promise import Promise, does, goes, never

T = Timer
_DISMISS = TIMER_INDEX[T.DISMISS]


def _waits(s: State) -> bool:
    """Is the agent silent while the user waits for an answer, for news from a job, or for the result of a tool call?"""
    return s.voice is Voice.SILENT and (s.said > s.answered or s.news or s.telling or has_foreground(s))


def _asks_for_presence(s: State, e: ev.WordsHeard) -> bool:
    ends_turn = s.user is User.TRANSCRIBING and e.final and e.turn == s.turn
    return e.presence and ends_turn and _waits(s)


def _only_sign(step: CheckedStep) -> bool:
    """Does the step record "hello?" as overheard and play the cue PRESENCE, without any request, cancelled reply or
    lost turn?"""
    return (
        fx.RecordOverheard(step.before.turn) in step.effects
        and fx.PlayCue(Cue.PRESENCE) in step.effects
        and never(step, fx.StartReply, fx.CancelReply, fx.ReportLost)
        and step.after.said == step.before.said
        and step.after.answered == step.before.answered
    )


def _ends_well(step: CheckedStep) -> bool:
    s = step.after
    if step.before.words is Words.NONE:
        return s.due[_DISMISS] <= s.at + s.settings.close_ms_max and never(step, fx.PlayCue)
    return fx.PlayCue(Cue.ENDED) in step.effects and s.due[_DISMISS] == s.at + s.settings.fatal_ms


AUDIBLE_PROMISES: tuple[Promise, ...] = (
    Promise(
        "the first cue of a wait is a sound, and the next ones are words",
        (T.CUE,),
        lambda s, e: True,
        lambda x: x.effects == (fx.PlayCue(Cue.WORDS if x.before.cues else Cue.SOUND),),
    ),
    Promise(
        '"hello?" while an answer is awaited is answered by a sign of life',
        (ev.WordsHeard,),
        lambda s, e: s.link in ACTIVE and s.link is not Link.FAULTED and _asks_for_presence(s, e),
        lambda x: _only_sign(x) or does(x, fx.StartPlayback),
    ),
    Promise(
        'words that are more than "hello?" make a turn',
        (ev.WordsHeard,),
        lambda s, e: s.link in ACTIVE and s.user is User.TALKING and e.turn == s.turn and e.substantial > 0,
        lambda x: x.after.words is (Words.PRESENCE if x.event.presence else Words.SUBSTANTIAL),  # type: ignore[attr-defined]
    ),
    Promise(
        "a sound that interrupts an answer marks it as cut off, until there are words",
        (ev.OverlapJudged, ev.SpeechStarted, ev.PttPressed),
        lambda s, e: s.link in LIVE and s.voice in SOUNDING,
        lambda x: (
            x.after.voice is not Voice.STOPPING
            or x.after.cut
            or x.before.ask.value in ("check_in", "goodbye")
            or x.after.said > x.before.said
        ),
    ),
    Promise(
        "after a fatal fault, a user who speaks over the final words hears them again; a mere noise leads to the end",
        (ev.TurnEnded, T.TEXT, T.SETTLE, T.TALK, ev.SoundDismissed, ev.SendPressed),
        lambda s, e: s.fault is not None and s.fault.fatal,
        lambda x: x.before.user is User.QUIET or x.after.user is not User.QUIET or _ends_well(x),
    ),
    Promise(
        "after a request to end the call when everything is said, the agent may finish its words",
        (ev.EndAfterSpeaking,),
        lambda s, e: s.link in LIVE,
        lambda x: (
            goes(x, x.before.link, x.before.voice, x.before.reply, x.before.user)
            and x.effects == ()
            and x.after.ending is not Ending.NO
            and (x.after.ending is Ending.CERTAIN or x.event.withdrawable)  # type: ignore[attr-defined]
        ),
    ),
    Promise(
        "a request to end the call after speaking ends it immediately if nothing can be said now",
        (ev.EndAfterSpeaking,),
        lambda s, e: s.link in ACTIVE and s.link not in LIVE,
        lambda x: goes(x, Link.TERMINATING) and does(x, fx.CloseSession),
    ),
    Promise(
        "when everything has been said, the conversation ends",
        (T.LAST_WORDS,),
        lambda s, e: True,
        lambda x: goes(x, Link.TERMINATING) and does(x, fx.CloseSession) and never(x, fx.StopPlayback, fx.ReportLost),
    ),
    Promise(
        "if the user types something, a planned end of the call that isn't certain is withdrawn",
        (ev.TextTyped,),
        lambda s, e: s.link in LIVE and s.ending is not Ending.NO,
        lambda x: (
            (x.after.ending is Ending.CERTAIN) == (x.before.ending is Ending.CERTAIN)
            and x.after.ending is not Ending.UNLESS_OPPOSED
        ),
    ),
)
