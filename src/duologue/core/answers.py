"""Keeps track of which turns of the person are owed an answer, which were sent to the brain, and which are answered.
All regions (parts) of the state use this.

A turn is "owed" if the person still needs an answer to it. It is "asked" after it was sent to the brain. Rule: a turn
counts as answered only if an answer was heard or shown, if the person cancelled the turn, or if the person was told
that the turn gets no answer.
"""

from __future__ import annotations

from .draft import Draft
from .effects import CancelReply, GuessReply, PlayCue, ReportLost, StartReply, StopPlayback, TruncateReply
from .events import Event, WordsHeard
from .leaves import AWAY, UNHEARD, Ask, Cue, Ending, Link, Reply, User, Voice, Words
from .state import State, has_foreground

TAKEN_UP = (Ask.ANSWER, Ask.OFFER, Ask.SAY)  # what the agent goes on with if it was cut off
_CONFIRMED = {Reply.GUESSING: Reply.WAITING, Reply.DRAFTING: Reply.GENERATING, Reply.DRAFTED: Reply.READY}


def changes_question(s: State, e: WordsHeard) -> bool:
    """Does this final text change a question that was already sent to the brain and isn't answered yet? Partial text
    doesn't, and neither does text without substantial words (words that aren't fillers such as "um" or "yeah")."""
    return e.final and e.substantial > 0 and s.answered < e.turn <= s.asked


def is_not_firm(s: State, e: Event) -> bool:
    return not s.firm


def become_firm(d: Draft, e: Event) -> None:
    d.firm = True


def start_reply(d: Draft, ask: Ask) -> None:
    """Send the brain one request about all turns that are owed an answer, and about all news (such as the result of a
    job)."""
    d.reply_id += 1
    d.asked = d.said
    d.ask = ask
    d.called = d.firm = d.cut = False
    d.telling = d.telling or d.news
    d.news = False
    d.told = Cue.SOUND
    d.emit(StartReply(d.reply_id, d.answered + 1, d.said, ask))


def start_saying(d: Draft) -> None:
    """Start a reply that says text from the program. The brain isn't asked, so this reply answers no turn and doesn't
    report news."""
    d.reply_id += 1
    d.ask = Ask.SAY
    d.says = d.called = d.firm = d.cut = False
    d.emit(StartReply(d.reply_id, d.answered + 1, d.answered, Ask.SAY))


def guess_reply(d: Draft, gist: int) -> None:
    """Send an early request: ask the brain about the words of the open turn so far."""
    d.reply_id += 1
    d.guess = gist
    d.guesses += 1
    d.called = d.firm = False
    d.emit(GuessReply(d.reply_id, d.answered + 1, d.turn))


def confirm_guess(d: Draft) -> None:
    """Use the early request as the real request for this turn, because the turn has ended with the words that were sent
    early. The part of the reply that has already arrived is kept."""
    d.asked = d.said
    d.ask = Ask.ANSWER
    d.cut = False
    d.guess = 0
    d.emit(StartReply(d.reply_id, d.answered + 1, d.said, Ask.ANSWER))
    d.move(_CONFIRMED[d.reply])


def drop_guess(d: Draft) -> None:
    """Cancel the early request. No part of its reply was heard."""
    cancel_reply(d)
    d.guess = 0


def cancel_reply(d: Draft) -> None:
    """Cancel the request. The reply id increases, so that later events about this reply are ignored as stale."""
    if d.before.reply is not Reply.RETRYING:  # while retrying, no request is open
        d.emit(CancelReply(d.reply_id))
    d.reply_id += 1
    d.called = d.firm = False


def mark_answered(d: Draft) -> None:
    """Count every turn that was sent to the brain as answered."""
    d.answered = d.asked


def mark_heard(d: Draft) -> None:
    """Count every turn that was sent to the brain as answered, because a reply was heard or shown. A reply that only
    said text from the program answers no turn: the turns are then owed an answer again, unless a running tool call will
    continue their answer."""
    if d.ask is not Ask.SAY:
        mark_answered(d)
    elif not has_foreground(d):
        d.asked = d.answered


def end_reply(d: Draft, heard: bool) -> None:
    """End a reply. If it was not heard, its turns are owed an answer again, and its news (results of tool calls and
    jobs) will be sent to the brain again. Exception: while the conversation waits for a tool call, the turns stay
    asked, because the output of the tool call will continue the reply. If the reply was an offer to go on with an
    earlier answer, and the line was lost, the offer is made again."""
    if not heard:
        d.cut = d.cut or (d.ask is Ask.OFFER and d.link in AWAY)
        if not has_foreground(d):
            _owe_again(d)
        d.news = d.news or d.telling
        d.says = d.says or d.ask is Ask.SAY
    clear_reply(d)


def clear_reply(d: Draft) -> None:
    """Reset the fields of a reply that has ended. This doesn't change which turns are owed an answer."""
    d.telling = False
    d.called = d.firm = False
    d.ask = Ask.ANSWER
    d.retries = 0


def _owe_again(d: Draft) -> None:
    """Mark the turns that were sent to the brain as owed an answer again. If the line was lost more than
    `line_losses_max` times during the answer to the same turn, give this turn up and tell the person so, because the
    turn itself may crash every process that answers it. During a fault, do nothing."""
    if d.link is Link.FAULTED:
        return
    if d.link in AWAY and d.asked > d.answered:
        _count_loss(d)
    d.asked = d.answered


def _count_loss(d: Draft) -> None:
    d.losses = d.losses + 1 if d.asked_again > d.answered else 1
    if d.losses > d.settings.line_losses_max:
        give_up(d, min(d.asked, d.asked_again), Cue.CALL_MADE if d.telling else Cue.APOLOGY)
        d.telling = d.telling and d.asked > d.answered  # what was given up isn't asked again for its outputs alone
        d.losses = 1  # of the turns that were asked for the first time
    d.asked_again = d.asked


def note_goodbye(d: Draft) -> None:
    """If the reply that has just been heard or shown was a goodbye, and the person makes a sound, the conversation goes
    on until this sound is judged. It ends then if the sound was noise. Words keep it."""
    if d.ask is Ask.GOODBYE and d.user is not User.QUIET and d.words is Words.NONE and _is_unopposed(d):
        end_unless_opposed(d)


def note_cut_goodbye(d: Draft) -> None:
    """A sound without words has cut off a goodbye. The goodbye is said once more after the next silence. If a sound
    cuts that off too, the conversation ends as soon as the sound has turned out to be noise."""
    if d.ask is Ask.GOODBYE and d.words is Words.NONE and not d.overheard and _is_unopposed(d):
        if d.check_ins > d.settings.check_ins_max:
            end_unless_opposed(d)
        d.check_ins = d.settings.check_ins_max + 1


def _is_unopposed(d: Draft) -> bool:
    """Has the person said nothing since the goodbye was requested? And does no tool call continue the goodbye?"""
    return d.said == d.asked and not d.called


def end_unless_opposed(d: Draft) -> None:
    if d.ending is Ending.NO:
        d.ending = Ending.UNLESS_OPPOSED


def withdraw_end(d: Draft) -> None:
    """The person has said something, so the conversation goes on, unless its end is certain."""
    if d.ending is Ending.UNLESS_OPPOSED:
        d.ending = Ending.NO


def owe_asked(d: Draft) -> None:
    """Mark every turn that was sent to the brain as owed an answer again, because the question has changed. This is
    done even while part of the old answer is still being heard."""
    d.asked = d.answered
    d.news = d.news or d.telling
    d.telling = False


def report_lost(d: Draft, last: int) -> None:
    """Report the unanswered turns up to `last` as lost. They count as answered from now on."""
    if last > d.answered:
        d.emit(ReportLost(d.answered + 1, last))
        d.answered = last


def tell(d: Draft, cue: Cue) -> None:
    """Play this cue (a short sound or phrase that belongs to no reply) to the person, unless the person is speaking. If
    a sound without words keeps the person from hearing it, it is played after the sound."""
    d.told, d.told_at = Cue.SOUND if cue is Cue.ENDED else cue, d.at  # last words are repeated by a rule of their own
    if d.user is User.QUIET:
        d.emit(PlayCue(cue))


def tell_again(d: Draft) -> None:
    """Play again, once, what a sound without words has cut off or held up."""
    cue, d.told = d.told, Cue.SOUND
    if cue is not Cue.SOUND and d.user is User.QUIET and d.voice is Voice.SILENT and d.link not in UNHEARD:
        d.emit(PlayCue(cue))


def give_up(d: Draft, last: int, cue: Cue) -> None:
    """Report the unanswered turns up to `last` as lost, and tell the person so with this cue. Does nothing if there are
    no such turns."""
    if last > d.answered:
        report_lost(d, last)
        tell(d, cue)


def stop_sound(d: Draft) -> None:
    """Stop playback now. All buffered sound is dropped."""
    d.emit(StopPlayback(d.voice_id))


def end_sound(d: Draft) -> None:
    """End a voice (stretch of the agent's speech) that was interrupted, and shorten the text of this voice in the
    history to the part that was heard. If any part was heard, the turns that this voice answers count as answered."""
    d.emit(TruncateReply(d.voice_id, d.heard_ms))
    if d.heard_ms:
        mark_heard(d)
    end_reply(d, heard=d.heard_ms > 0)
    forget_sound(d)


def forget_sound(d: Draft) -> None:
    """Reset the fields of a voice (stretch of the agent's speech) that has ended. The voice id increases, so that later
    events about this voice are ignored as stale."""
    d.voice_id += 1
    d.heard_ms = 0
    d.floor_turn = 0
    d.overheard = 0
