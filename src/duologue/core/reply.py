"""How far is our answer? Asking, retrying, superseding and finishing it.

Does not know what is asked or answered. Rule: every change of this region is a row in REPLY_ROWS;
one way to cancel: the id moves on, and whatever carries the old one is dropped.
"""

from __future__ import annotations

from .answers import answer, cancel_reply, carry_on, changes_question, settle, start_reply
from .draft import Draft
from .events import (
    AudioBuffered,
    Event,
    InterruptRequested,
    ReplyAccepted,
    ReplyFailed,
    ReplyFinished,
    TextTyped,
    TimerFired,
    TokenArrived,
    ToolCalled,
    WordsHeard,
)
from .leaves import PENDING, Ask, Reply, Timer, User, Words
from .rows import Row, row
from .settings import POLICIES
from .state import State, has_foreground

# -- Guards


def may_retry(s: State, e: Event) -> bool:
    """Is there a retry left for this failure? A reply that has made a call is never retried whole."""
    allowed = POLICIES[e.error].retries_max if isinstance(e, ReplyFailed) else len(s.settings.retry_ms)
    return not s.called and s.retries < min(allowed, len(s.settings.retry_ms))


def fails_for_good(s: State, e: Event) -> bool:
    """Does this end in a fault? Not if it can be retried, nor if the calls that it made carry on."""
    worth_going_on = not isinstance(e, ReplyFailed) or POLICIES[e.error].retries_max > 0
    if s.reply not in PENDING or (s.called and worth_going_on):
        return False
    return (isinstance(e, TimerFired) and e.timer is Timer.ANSWER) or not may_retry(s, e)


def goes_on(s: State, e: WordsHeard | TextTyped) -> bool:
    """Does the person add to what they said before anything of the answer was heard? While a call
    is open, the words are queued instead."""
    if has_foreground(s):
        return False
    return isinstance(e, TextTyped) or (e.substantial > 0 and (e.turn > s.asked or changes_question(s, e)))


def may_check_in(s: State, e: Event) -> bool:
    return s.check_ins < s.settings.check_ins_max


def turn_has_words(s: State, e: Event) -> bool:
    """Is the person, behind whom the reply waits, really saying something?"""
    return s.user is not User.QUIET and s.words is not Words.NONE


# -- Actions


def ask(d: Draft, e: Event) -> None:
    start_reply(d, Ask.ANSWER)


def ask_again(d: Draft, e: Event) -> None:
    start_reply(d, d.ask)


def ask_check_in(d: Draft, e: Event) -> None:
    d.check_ins += 1
    start_reply(d, Ask.CHECK_IN)


def ask_goodbye(d: Draft, e: Event) -> None:
    start_reply(d, Ask.GOODBYE)


def note_call(d: Draft, e: Event) -> None:
    d.called = True


def retry(d: Draft, e: Event) -> None:
    d.retries += 1
    cancel_reply(d)


def drop(d: Draft, e: Event) -> None:
    """It ends without having been heard: what it was to answer is owed again."""
    cancel_reply(d)
    settle(d, heard=False)


def finish(d: Draft, e: Event) -> None:
    """It was shown; or it made calls, whose outputs will carry it on."""
    d.reply_id += 1
    if d.called:
        carry_on(d)
    else:
        answer(d)
        settle(d, heard=True)
        d.faults_in_a_row = 0


def cancel(d: Draft, e: Event) -> None:
    """The person wants no answer any more."""
    cancel_reply(d)
    answer(d)
    settle(d, heard=True)


R, T = Reply, Timer
_OPEN = (R.COMMITTING, R.WAITING, R.GENERATING)

REPLY_ROWS: tuple[Row, ...] = (
    row(R.NONE, (T.BEAT, T.PATIENCE), R.COMMITTING, ask),
    row(R.NONE, T.DEAD_AIR, R.COMMITTING, ask_check_in, may_check_in),
    row(R.NONE, T.DEAD_AIR, R.COMMITTING, ask_goodbye, why="nobody is there"),
    row(R.COMMITTING, ReplyAccepted, R.WAITING),
    row((R.COMMITTING, R.WAITING), TokenArrived, R.GENERATING),
    row((R.COMMITTING, R.WAITING), ToolCalled, R.GENERATING, note_call),
    row((R.GENERATING, R.READY, R.NONE), ToolCalled, None, note_call),
    row(_OPEN, AudioBuffered, R.READY),
    row(_OPEN, ReplyFinished, R.NONE, finish),
    # Failing
    row((*_OPEN, R.READY), (ReplyFailed, T.ATTEMPT), R.RETRYING, retry, may_retry),
    row(PENDING, (ReplyFailed, T.ATTEMPT, T.ANSWER), R.NONE, drop),
    row(R.RETRYING, T.RETRY, R.COMMITTING, ask_again),
    # The person
    row(PENDING, (WordsHeard, TextTyped), R.NONE, drop, goes_on),
    row(PENDING, InterruptRequested, R.NONE, cancel),
    row(R.READY, T.READY, R.NONE, drop, turn_has_words),
)
