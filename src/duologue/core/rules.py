"""The rules: combinations of leaves of several regions that must not last, and the actions that correct them.

The rules run once after the rows of every step, in the order of RULES. The model checker (`duologue.lab.check`)
verifies that after this one pass, no rule applies any more. Rule: there are at most seven rules. If more are needed,
the state is divided into the wrong regions.
"""

from __future__ import annotations

from .answers import TAKEN_UP, cancel_reply, confirm_guess, drop_guess, end_reply, end_sound, start_reply, stop_sound
from .draft import Draft
from .effects import HoldPlayback, ReportLost, ResumePlayback, StartPlayback
from .events import Event
from .jobs import drop_work
from .leaves import (
    AWAY,
    CLOSED,
    DEAD,
    EARLY,
    FOREGROUND,
    LIVE,
    SOUNDING,
    Ask,
    Cue,
    Ending,
    Link,
    Reply,
    User,
    Voice,
    Words,
)
from .rows import Rule
from .state import floor_is_open, has_foreground, is_owed, is_sounding

# These leaves are read in every step. On Python 3.11, access through the enum class costs four times as much.
_QUIET, _SILENT = User.QUIET, Voice.SILENT
_NONE, _READY = Reply.NONE, Reply.READY


def sound_on_a_dead_line(d: Draft) -> bool:
    return d.voice is not _SILENT


def silence_voice(d: Draft, e: Event) -> None:
    """End the sound. If the lost line cut off an answer in the middle, the agent goes on with it once the line is back.
    An answer of which nothing was heard is requested again instead."""
    if d.voice in SOUNDING:
        stop_sound(d)
        cancel_reply(d)
        if d.link in AWAY and d.heard_ms and d.ask in TAKEN_UP:
            d.cut = True
    d.move(_SILENT)
    end_sound(d)


def request_on_a_dead_line(d: Draft) -> bool:
    return d.reply is not _NONE


def drop_request(d: Draft, e: Event) -> None:
    if d.reply in EARLY:
        drop_guess(d)
        d.move(_NONE)
        return
    cancel_reply(d)
    d.move(_NONE)
    end_reply(d, heard=False)


def calls_in_a_fault(d: Draft) -> bool:
    return has_foreground(d)


def cancel_calls(d: Draft, e: Event) -> None:
    for job in d.jobs:
        if job.kind in FOREGROUND:
            d.drop_job(job.call)
            drop_work(d, job)


def leftovers_of_a_closed_line(d: Draft) -> bool:
    return d.user is not _QUIET or bool(d.jobs) or is_owed(d) or d.fault is not None or _counts(d) or _flags(d)


def _counts(d: Draft) -> bool:
    return bool(d.faults or d.faults_in_a_row or d.check_ins or d.attempts)


def _flags(d: Draft) -> bool:
    return d.cut or d.paused or d.says or d.told is not Cue.SOUND or d.ending is not Ending.NO


def clear_leftovers(d: Draft, e: Event) -> None:
    """End everything that is open when the line is closed: each tool call gets its output, and turns without an answer
    are reported as lost."""
    last = d.said if d.words is Words.NONE else d.turn
    if last > d.answered:
        d.emit(ReportLost(d.answered + 1, last))
    d.answered = d.asked = d.said = d.turn
    for job in d.jobs:
        d.drop_job(job.call)
        drop_work(d, job)
    d.move(_QUIET)
    d.words = Words.NONE
    d.final = d.unread = d.news = False
    d.faults = d.faults_in_a_row = d.check_ins = d.attempts = 0
    d.cut = d.paused = d.says = False
    d.told = Cue.SOUND
    d.ending = Ending.NO
    d.fault = None


def ready_reply_and_open_floor(d: Draft) -> bool:
    return d.reply is _READY and d.voice is _SILENT and d.user is _QUIET


def speak_reply(d: Draft, e: Event) -> None:
    d.voice_id += 1
    d.heard_ms = 0
    d.retries = 0
    d.floor_turn = d.turn
    d.move(_NONE)
    d.move(Voice.PLAYING)
    d.emit(StartPlayback(d.voice_id, d.reply_id))


def complete_turn_and_free_floor(d: Draft) -> bool:
    """The floor is open, so must the brain be asked now? Yes, if the person has just finished a turn, or if the last
    tool call that the conversation waited for has just ended. Also yes if a request was sent early, because it is used
    or dropped now. Everything else that is owed, such as news of a job, waits for the timer BEAT, which is a short
    pause."""
    return floor_is_open(d) and (d.reply in EARLY or _must_ask(d))


def _must_ask(d: Draft) -> bool:
    return is_owed(d) and (d.said > d.before.said or has_foreground(d.before))


def ask_owed(d: Draft, e: Event) -> None:
    if d.reply in EARLY and d.said == d.turn > d.answered:
        confirm_guess(d)
        return
    if d.reply in EARLY:
        drop_guess(d)
        d.move(_NONE)
    if _must_ask(d):
        d.move(Reply.COMMITTING)
        start_reply(d, Ask.ANSWER)


def sound_out_of_step(d: Draft) -> bool:
    same_sound = d.voice_id == d.before.voice_id and d.voice in SOUNDING
    return same_sound and is_sounding(d) != is_sounding(d.before)


def hold_or_resume_voice(d: Draft, e: Event) -> None:
    d.emit(ResumePlayback(d.voice_id) if is_sounding(d) else HoldPlayback(d.voice_id))


_UP_ONLY = (Link.UP,)

RULES: tuple[Rule, ...] = (
    Rule("silence", sound_on_a_dead_line, silence_voice, "no audio plays on a dead line", DEAD),
    Rule("drop", request_on_a_dead_line, drop_request, "no request stays open on a dead line", DEAD),
    Rule(
        "cancel",
        calls_in_a_fault,
        cancel_calls,
        "a fault cancels the calls that the conversation waits for",
        (Link.FAULTED,),
    ),
    Rule("clear", leftovers_of_a_closed_line, clear_leftovers, "nothing stays open on a closed line", CLOSED),
    Rule("ask", complete_turn_and_free_floor, ask_owed, "a complete turn is sent to the brain immediately", _UP_ONLY),
    Rule("speak", ready_reply_and_open_floor, speak_reply, "a ready reply is spoken when the floor is open", _UP_ONLY),
    Rule(
        "hold",
        sound_out_of_step,
        hold_or_resume_voice,
        "playback is held during an overlap or a pause, then resumed",
        LIVE,
    ),
)
