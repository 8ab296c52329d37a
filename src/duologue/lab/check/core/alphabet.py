"""The events that an exploration tries in a state: all that could happen next, and stale events.

Time is reduced to "any armed deadline may fire next". Rule: every kind of event has a fresh variant with the current
ids, and for every id in an event there is a stale variant with an older id.
"""

from __future__ import annotations

from functools import cache

from duologue.core import events as ev
from duologue.core.events import Event
from duologue.core.leaves import ErrorClass, FaultSource
from duologue.core.state import State, armed

from .abstract import ID
from .scopes import CheckScope

_STALE = 0
_ERRORS = (
    ErrorClass.RATE_LIMIT,
    ErrorClass.SERVER_ERROR,
    ErrorClass.SESSION_EXPIRED,
    ErrorClass.AUTH_FAILURE,
    ErrorClass.UNKNOWN,
)


def _signals(seq: int) -> list[Event]:
    kinds = (
        ev.EndRequested,
        ev.EndAfterSpeaking,
        ev.LastWordsHeard,
        ev.InterruptRequested,
        ev.PersonSeen,
        ev.QuestionMissed,
        ev.SuspendRequested,
        ev.ResumeRequested,
        ev.ReconnectRequested,
        ev.RetryRequested,
        ev.DismissRequested,
        ev.PttPressed,
        ev.PttReleased,
        ev.SendPressed,
        ev.TextTyped,
        ev.SpeechStarted,
        ev.SpeechStopped,
        ev.StartRequested,
        ev.SpeechRequested,
        ev.AgentChangeRequested,
    )
    return [kind(0, seq) for kind in kinds]


def _about(session: int, reply: int, voice: int, seq: int) -> list[Event]:
    found: list[Event] = [
        ev.SessionReady(0, session),
        ev.SessionClosed(0, session),
        ev.LinkClosed(0, session),
        ev.LinkWobbled(0, seq, session),
        ev.LinkHealed(0, seq, session),
        ev.ReplyAccepted(0, reply),
        ev.TokenArrived(0, reply),
        ev.AudioBuffered(0, reply),
        ev.ReplyFinished(0, reply),
        ev.ReplyWasEmpty(0, reply),
        ev.ReplyBecameFirm(0, reply),
        ev.PlaybackFailed(0, voice, ErrorClass.SERVER_ERROR),
        ev.PlaybackFailed(0, voice, ErrorClass.SESSION_EXPIRED),
        ev.OverlapJudged(0, voice, seq, bid=True, onset=ID),
        ev.OverlapJudged(0, voice, seq, bid=False, onset=ID),
    ]
    found += [ev.SessionFailed(0, session, error) for error in (ErrorClass.RATE_LIMIT, ErrorClass.AUTH_FAILURE)]
    found += [ev.ReplyFailed(0, reply, error) for error in _ERRORS]
    return found


_FRESH: tuple[Event, ...] = (
    *_signals(seq=1),
    *_about(ID, ID, ID, seq=1),
    ev.SessionEnded(0, 1, ID),
    ev.VoicesPlayed(0, 1, ID + 1),
    ev.EndAfterSpeaking(0, 1, withdrawable=True),
    ev.AgentChangeRequested(0, 1, speaks=True),
    ev.StartRequested(0, 1, session_active=False),
    ev.StartRequested(0, 1, audio_primed=False),
    *(ev.ServiceFailed(0, 1, FaultSource.EARS, error) for error in _ERRORS),
)
_LATE: tuple[Event, ...] = (
    *_signals(seq=_STALE),
    *_about(_STALE, _STALE, _STALE, seq=1),
    ev.VoicesPlayed(0, _STALE, ID + 1),
    ev.VoicesPlayed(0, 1, ID),
    ev.LinkWobbled(0, _STALE, ID),
    ev.LinkHealed(0, _STALE, ID),
    ev.SessionEnded(0, _STALE, ID),
    ev.SessionEnded(0, 1, ID + 1),  # 0 would be a session that an earlier version didn't name
    ev.OverlapJudged(0, ID, _STALE, bid=True, onset=ID),
    ev.OverlapJudged(0, ID, _STALE, bid=False, onset=ID),
    ev.OverlapJudged(0, ID, 1, bid=False, onset=_STALE),
    ev.ServiceFailed(0, _STALE, FaultSource.EARS, ErrorClass.UNKNOWN),
    ev.PlaybackProgressed(0, _STALE, 5),
    ev.PlaybackFinished(0, _STALE, 5),
    ev.PlaybackStopped(0, _STALE, 5),
    *(kind(0, _STALE) for kind in (ev.CancelRequested, ev.CallDelegated, ev.CallDispatched)),
    *(kind(0, _STALE) for kind in (ev.JobFinished, ev.JobFailed)),
    ev.JobProgressed(0, _STALE, 1),
    ev.JobAsked(0, _STALE, 1),
)


def _playback(s: State) -> list[Event]:
    found: list[Event] = [ev.PlaybackProgressed(0, ID, s.heard_ms + 1)]
    for heard_ms in {s.heard_ms, 1}:
        found += [ev.PlaybackStopped(0, ID, heard_ms), ev.PlaybackFinished(0, ID, heard_ms)]
    return found


@cache
def _heard(turn: int, fillers: bool) -> list[Event]:
    found: list[Event] = []
    for final in (False, True):
        found.append(ev.WordsHeard(0, 1, turn, words=2, substantial=2, final=final))
        if fillers:
            found.append(ev.WordsHeard(0, 1, turn, words=1, substantial=0, final=final))
            found.append(ev.WordsHeard(0, 1, turn, words=1, substantial=1, final=final, presence=True))
    return found


def _words(s: State, fillers: bool) -> list[Event]:
    found: list[Event] = [ev.TurnEnded(0, s.turn, ID), ev.SoundDismissed(0, s.turn, ID)]
    for turn in range(1, s.turn + 1):
        found += _heard(turn, fillers)
    found += [ev.AnswerOverheard(0, 1, turn) for turn in range(s.said + 1, s.turn + 1)]
    found.append(ev.WordsHeard(0, 1, s.turn, words=0, substantial=0, final=True))
    found.append(ev.WordsHeard(0, 1, s.turn, words=0, substantial=0, final=False))
    found.append(ev.TurnGuessed(0, s.turn, ID, ID + 1 if s.guess else ID))
    if s.guess:  # the words about which the brain was asked, once more
        found += [ev.WordsHeard(0, 1, s.turn, 2, 2, final=final, gist=ID) for final in (False, True)]
    return found


def _jobs(s: State, cancellable: bool) -> list[Event]:
    found: list[Event] = [ev.ToolCalled(0, ID, s.call_id + 1)]
    if cancellable:
        found.append(ev.ToolCalled(0, ID, s.call_id + 1, cancellable=True))
    for job in s.jobs:
        found += [
            ev.CancelRequested(0, job.call),
            ev.CallDelegated(0, job.call),
            ev.CallDispatched(0, job.call),
            ev.JobProgressed(0, job.call, 1),
            ev.JobAsked(0, job.call, 1),
            ev.JobFinished(0, job.call),
            ev.JobFinished(0, job.call, quiet=True),
            ev.JobFailed(0, job.call),
        ]
    return found


def timers(s: State) -> list[ev.TimerFired]:
    """A TimerFired for every armed deadline."""
    return [ev.TimerFired(due, timer, due, call) for due, timer, call in armed(s)]


def fresh(s: State, scope: CheckScope) -> list[Event]:
    """Every event of the scope that could happen in this state, except timers."""
    found = [*_fixed(scope), *_playback(s)]
    if ev.WordsHeard not in scope.without:
        found += [event for event in _words(s, scope.fillers) if type(event) not in scope.without]
    if ev.TurnTaken not in scope.without:
        found += [ev.TurnTaken(0, turn) for turn in range(s.answered + 1, s.said + 1)]
    if ev.ToolCalled not in scope.without:
        found += [event for event in _jobs(s, scope.cancellable) if type(event) not in scope.without]
    return found


@cache
def _fixed(scope: CheckScope) -> tuple[Event, ...]:
    return tuple(event for event in _FRESH if type(event) not in scope.without)


def stale(s: State) -> list[Event]:
    """Late and repeated events. None of them may change anything."""
    found: list[Event] = [*_LATE, ev.TurnEnded(0, s.turn - 1, ID), ev.TurnEnded(0, s.turn, _STALE)]
    found += [ev.SoundDismissed(0, s.turn - 1, ID), ev.SoundDismissed(0, s.turn, _STALE)]
    found += [ev.TurnGuessed(0, s.turn - 1, ID, ID + 1), ev.TurnGuessed(0, s.turn, _STALE, ID + 1)]
    if s.guess:
        found += [ev.TurnGuessed(0, s.turn, ID, s.guess), ev.ToolCalled(0, ID, s.call_id + 1)]
    found += [ev.AnswerOverheard(0, _STALE, turn) for turn in range(1, s.turn + 1)]
    found.append(ev.AnswerOverheard(0, 1, s.said))
    found += [ev.TurnTaken(0, s.answered), ev.TurnTaken(0, s.said + 1)]
    found += [ev.WordsHeard(0, _STALE, turn, words=2, substantial=2, final=True) for turn in range(1, s.turn + 1)]
    found += [ev.ToolCalled(0, _STALE, s.call_id + 1), ev.ToolCalled(0, ID, s.call_id)]
    found += [kind(0, job.call, _STALE) for job in s.jobs for kind in (ev.JobProgressed, ev.JobAsked)]
    found += [ev.TimerFired(due, timer, due + 1, call) for due, timer, call in armed(s)]
    return found
