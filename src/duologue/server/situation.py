"""What a screen shows in addition to the conversation's phase: why the user has to wait, which attempt is running, and
which turns are queued.

A situation is a value. It is computed from a step of the state machine and the situation before that step. Rule:
everything in it is derived from the machine's state; nothing is guessed from how much time has passed.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.core.events import ReplyFailed
from duologue.core.leaves import AWAY, PENDING, TIMER_INDEX, ErrorClass, Link, Reply, Timer
from duologue.core.settings import POLICIES
from duologue.core.state import State, floor_is_free
from duologue.core.step_record import StepRecord


class Situation(NamedTuple):
    """Why the user has to wait, and until when. `why` is the reason: retry, rate_limit, reconnecting, healing, renewing
    or fault; empty if the user doesn't have to wait. `until` is the time on the conversation's clock at which the next
    attempt begins, or at which the conversation continues after a fault; 0 if neither is planned."""

    why: str = ""
    attempt: int = 0
    attempts_max: int = 0
    until: int = 0
    queued_first: int = 0  # turns that are complete and wait until the floor is free; 0: none
    queued_last: int = 0
    error: ErrorClass = ErrorClass.NETWORK_TIMEOUT  # why the newest attempt at the answer failed


def situation_after(before: Situation, record: StepRecord) -> Situation:
    """The situation after this step."""
    error = before.error
    if record.after.retries > record.before.retries:
        error = record.event.error if isinstance(record.event, ReplyFailed) else ErrorClass.NETWORK_TIMEOUT
    return situation_of(record.after, error)


def situation_of(s: State, error: ErrorClass = ErrorClass.NETWORK_TIMEOUT) -> Situation:
    """The situation in this state. `error` is the reason for which the newest attempt to get an answer failed; it has a
    meaning only if an attempt has failed."""
    first, last = (s.asked + 1, s.said) if s.said > s.asked and not floor_is_free(s) else (0, 0)
    if s.link in AWAY:
        until = _due(s, Timer.BACKOFF) if s.link is Link.BACKING_OFF else 0
        attempt = s.attempts + 1 if s.link is Link.BACKING_OFF else max(1, s.attempts)
        return Situation("reconnecting", attempt, len(s.settings.backoff_ms), until, first, last, error)
    if s.link in (Link.HEALING, Link.RENEWING):
        return Situation(s.link.value, 0, 0, 0, first, last, error)
    if s.link is Link.FAULTED and s.fault is not None and not s.fault.fatal:
        return Situation("fault", 0, 0, _due(s, Timer.DISMISS), first, last, error)
    if s.link is Link.UP and s.reply in PENDING and s.retries:
        why = "rate_limit" if error is ErrorClass.RATE_LIMIT else "retry"
        until = _due(s, Timer.RETRY) if s.reply is Reply.RETRYING else 0
        attempts_max = min(POLICIES[error].retries_max, len(s.settings.retry_ms))
        return Situation(why, s.retries, max(s.retries, attempts_max), until, first, last, error)
    return Situation("", 0, 0, 0, first, last, error)


def _due(s: State, timer: Timer) -> int:
    return s.due[TIMER_INDEX[timer]]
