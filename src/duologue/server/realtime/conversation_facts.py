"""Derives from a step of the state machine the facts that clients of the protocol are told.

Rule: facts are derived only from the step itself, its words and its signals. They are in the order in which the client
must be told: first what the user did or what has failed, then which sound was stopped because of that, then the next
reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import AWAY, LIVE, SOUNDING, Reply, User, Voice
from duologue.core.state import State, has_foreground, is_owed
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg

from . import facts as fa

# If one of these events ends a reply, the reply is made again, or a fault is shown.
FAILURES = (ev.ReplyFailed, ev.ReplyWasEmpty, ev.ServiceFailed, ev.TimerFired)


def facts_of(record: StepRecord, signals: Iterable[sg.Signal], heard_of: Callable[[int], str]) -> Iterator[fa.Fact]:
    """The facts that follow from one step. `signals` are the signals that the step has sent. `heard_of` is called with
    the number of a voice (the sound of one reply), and returns those of its words that the user has heard."""
    after, event = record.after, record.event
    by_client = type(event) is ev.InterruptRequested
    if takes_floor(after):
        yield fa.UserBegan(after.turn)
    yield from _turns(signals, type(event) is ev.TextTyped)
    yield from _failures(record)
    is_lost = loses_session(record)
    for effect in record.effects:
        match effect:
            case fx.StopPlayback():
                yield fa.SoundCut(effect.voice, by_client)
            case fx.TruncateReply():
                yield fa.SoundHeard(effect.voice, effect.heard_ms, heard_of(effect.voice))
            case fx.CancelReply() if not is_lost and not isinstance(event, FAILURES):
                yield fa.ReplyDropped(effect.reply, by_client)
            case fx.StartReply():
                yield fa.ReplyStarted(effect.reply, answers=effect.last >= effect.first)
    if type(event) is ev.ReplyFinished and after is not record.before:
        yield fa.ReplyComplete(event.reply)
    if is_resting(after) and not is_resting(record.before):
        yield fa.Rested()


def _failures(record: StepRecord) -> Iterator[fa.Fact]:
    if loses_session(record):
        yield fa.SessionLost()
    for effect in record.effects:
        if isinstance(effect, fx.ShowFault):
            yield fa.FaultShown(effect.part.value, effect.error.value)


def loses_session(record: StepRecord) -> bool:
    """Has this step lost the session with the service, so that it must be opened again?"""
    return record.before.link in LIVE and record.after.link in AWAY


def takes_floor(s: State) -> bool:
    """Does the user speak while the agent's sound is neither playing nor paused?"""
    return s.user in (User.TALKING, User.SETTLING) and s.voice not in SOUNDING


def is_resting(s: State) -> bool:
    """Is the agent silent, with nothing more to come: no reply in progress, no tool call, and no answer that it still
    owes the user?"""
    is_silent = s.voice is Voice.SILENT and s.reply is Reply.NONE
    return is_silent and s.link in LIVE and not has_foreground(s) and not is_owed(s)


def _turns(signals: Iterable[sg.Signal], is_typed: bool) -> Iterator[fa.Fact]:
    for signal in signals:
        match signal:
            case sg.TurnCompleted() if signal.turn.role == "user":
                yield fa.UserEnded(signal.turn.turn, signal.turn.transcript, is_typed)
            case sg.TurnDropped():
                yield fa.UserDropped(signal.turn.turn)
