"""What is owed, asked and answered: the bookkeeping that the regions share.

Rule: `answered` moves only here, and only by an answer that was heard or shown, a cancel, or a
loss that the person is told of.
"""

from __future__ import annotations

from .draft import Draft
from .effects import CancelReply, ReportLost, StartReply, StopPlayback, TruncateReply
from .events import WordsHeard
from .leaves import AWAY, Ask, Link, Reply
from .state import State, has_foreground


def changes_question(s: State, e: WordsHeard) -> bool:
    """Is this the final text of a turn that was asked before it was known? Partial text of such a
    turn is not worth a new request each time."""
    return e.final and e.substantial > 0 and s.answered < e.turn <= s.asked


def start_reply(d: Draft, ask: Ask) -> None:
    """Send one request for everything that is owed."""
    d.reply_id += 1
    d.asked = d.said
    d.ask = ask
    d.called = False
    d.telling = d.telling or d.news
    d.news = False
    d.emit(StartReply(d.reply_id, d.answered + 1, d.said, ask))


def cancel_reply(d: Draft) -> None:
    """Tell the brain to stop; its id moves on, so nothing that it still says counts."""
    if d.before.reply is not Reply.RETRYING:  # there, nothing is open
        d.emit(CancelReply(d.reply_id))
    d.reply_id += 1
    d.called = False


def answer(d: Draft) -> None:
    """What was asked is settled."""
    d.answered = d.asked


def settle(d: Draft, heard: bool) -> None:
    """A reply is over. Unheard, its turns are owed again, and what it was to tell is news again; but
    while calls that it made run, their outputs will go on with it."""
    if not heard:
        if not has_foreground(d):
            _owe_again(d)
        d.news = d.news or d.telling
    carry_on(d)


def carry_on(d: Draft) -> None:
    """A reply is over, its turns stay asked: outputs that are still to come will go on with them."""
    d.telling = False
    d.called = False
    d.ask = Ask.ANSWER
    d.retries = 0


def _owe_again(d: Draft) -> None:
    """After a lost line a turn is asked once more; a second loss is reported. In a fault the turns
    stay asked until the person says whether to retry or to dismiss."""
    if d.link is Link.FAULTED:
        return
    if d.link in AWAY:
        lose(d, min(d.asked, d.asked_again))
        d.asked_again = d.asked
    d.asked = d.answered


def owe_asked(d: Draft) -> None:
    """What was asked has changed: it is owed again, however much of the old answer is heard."""
    d.asked = d.answered
    d.news = d.news or d.telling
    d.telling = False


def lose(d: Draft, last: int) -> None:
    """Tell the person which turns, up to this one, got no answer, and let them go."""
    if last > d.answered:
        d.emit(ReportLost(d.answered + 1, last))
        d.answered = last


def stop_sound(d: Draft) -> None:
    """Silence now: no further chunk, every buffer cleared."""
    d.emit(StopPlayback(d.voice_id))


def end_sound(d: Draft) -> None:
    """The sound is over before its end: history keeps what was heard."""
    d.emit(TruncateReply(d.voice_id, d.heard_ms))
    if d.heard_ms:
        answer(d)
    settle(d, heard=d.heard_ms > 0)
    forget_sound(d)


def forget_sound(d: Draft) -> None:
    """The sound's id moves on: whatever is still said of it is stale."""
    d.voice_id += 1
    d.heard_ms = 0
    d.floor_turn = 0
    d.overheard = 0
