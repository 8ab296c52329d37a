"""Which turns are owed, asked and answered: the bookkeeping that the regions share.

A turn is owed if the person still needs an answer to it, and asked once it was sent to the brain.
Rule: a turn counts as answered only after an answer that was heard or shown, a cancellation, or a loss
that was reported to the person.
"""

from __future__ import annotations

from .draft import Draft
from .effects import CancelReply, ReportLost, StartReply, StopPlayback, TruncateReply
from .events import WordsHeard
from .leaves import AWAY, Ask, Link, Reply
from .state import State, has_foreground


def changes_question(s: State, e: WordsHeard) -> bool:
    """Is this the final text of a turn that was sent to the brain without it and isn't answered yet? Partial text, or
    text without substantial words, doesn't justify a new request."""
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
    """Cancel the request. The reply id increases, so that late events of this reply are stale."""
    if d.before.reply is not Reply.RETRYING:  # while retrying, no request is open
        d.emit(CancelReply(d.reply_id))
    d.reply_id += 1
    d.called = False


def mark_answered(d: Draft) -> None:
    """Count every turn that was asked as answered."""
    d.answered = d.asked


def end_reply(d: Draft, heard: bool) -> None:
    """End a reply. If the reply was not heard, its turns are owed again, and its news will be sent to the brain again.
    While calls that the reply made are running, its turns stay asked, because the outputs of the calls will continue
    the reply."""
    if not heard:
        if not has_foreground(d):
            _owe_again(d)
        d.news = d.news or d.telling
    clear_reply(d)


def clear_reply(d: Draft) -> None:
    """Reset the fields of a reply that has ended. Its turns don't change: they stay asked or answered."""
    d.telling = False
    d.called = False
    d.ask = Ask.ANSWER
    d.retries = 0


def _owe_again(d: Draft) -> None:
    """Owe the asked turns again. After a lost line, a turn is asked only once more, and a second loss is reported to
    the person. During a fault, the turns stay asked until the person retries or dismisses the fault."""
    if d.link is Link.FAULTED:
        return
    if d.link in AWAY:
        report_lost(d, min(d.asked, d.asked_again))
        d.asked_again = d.asked
    d.asked = d.answered


def owe_asked(d: Draft) -> None:
    """The question has changed: owe all asked turns again, even if some of the old answer gets heard."""
    d.asked = d.answered
    d.news = d.news or d.telling
    d.telling = False


def report_lost(d: Draft, last: int) -> None:
    """Report the unanswered turns up to `last` as lost. They count as answered from now on."""
    if last > d.answered:
        d.emit(ReportLost(d.answered + 1, last))
        d.answered = last


def stop_sound(d: Draft) -> None:
    """Stop playback now: no further chunk is played, and every buffer is cleared."""
    d.emit(StopPlayback(d.voice_id))


def end_sound(d: Draft) -> None:
    """End a sound that was cut short, and cut the history to what was heard. If any of the sound was heard, its turns
    count as answered."""
    d.emit(TruncateReply(d.voice_id, d.heard_ms))
    if d.heard_ms:
        mark_answered(d)
    end_reply(d, heard=d.heard_ms > 0)
    forget_sound(d)


def forget_sound(d: Draft) -> None:
    """Reset the fields of a sound that has ended. The voice id increases, so that late events about this sound are
    stale."""
    d.voice_id += 1
    d.heard_ms = 0
    d.floor_turn = 0
    d.overheard = 0
