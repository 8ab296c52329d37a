"""Promises about the user's turns: how turns begin and end, and what the machine does with their words, even if the
words come late."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    ACTIVE,
    FROZEN,
    PENDING,
    SOUNDING,
    TIMER_INDEX,
    Ask,
    Ending,
    Reply,
    Timer,
    User,
    Voice,
    Words,
)
from duologue.core.state import State, has_foreground

from ..laws import CheckedStep
from .promise import Promise, asks, does, goes, is_open, never, quiet_floor, trigger_of

T = Timer
_OPEN = (User.TALKING, User.SETTLING)
_SETTLE, _TEXT = TIMER_INDEX[T.SETTLE], TIMER_INDEX[T.TEXT]
_ENDS = (ev.TurnEnded, ev.PttReleased, ev.SendPressed, T.TALK)


_SENT = (ev.PttReleased, ev.SendPressed)
_COMMIT = TIMER_INDEX[T.COMMIT]
_TICKING = tuple(link for link in ACTIVE if link not in FROZEN)


def _without_commit(s: State) -> tuple[int, ...]:
    return tuple(due for index, due in enumerate(s.due) if index != _COMMIT)


def _text_due(step: CheckedStep) -> int:
    """The time at which the wait for the turn's final text must end. If the wait has already begun, it must not be
    prolonged."""
    settings, at = step.after.settings, step.after.at
    due = at + (settings.sent_text_ms_max if isinstance(step.event, _SENT) else settings.text_ms_max)
    return min(due, step.before.due[_TEXT]) if step.before.user is User.TRANSCRIBING else due


def _may_end(s: State, e: ev.Event) -> bool:
    """Can this event end the open turn? False if no turn is open, or if the event is a TurnEnded about an earlier onset
    of speech than the newest one."""
    return s.user in _OPEN and (not isinstance(e, ev.TurnEnded) or e.onset >= s.onset)


def _active(s: State) -> bool:
    return s.link in ACTIVE


def _is_late(s: State, e: ev.WordsHeard) -> bool:
    late = e.turn < s.turn or s.user is User.QUIET
    return late and e.words > 0 and (e.final or e.turn > s.asked)


def _is_read(s: State) -> bool:
    """Is the whole text of the open turn known? It isn't while the user makes a sound that began after the final
    text."""
    return s.final and not (s.unread and s.user is User.TALKING)


def _over_sound(s: State, words: Words) -> bool:
    """Must these words only be recorded as overheard, because the agent is speaking? Over a firm reply (one that speech
    doesn't interrupt), this is so only for fillers. Over a goodbye, all words need an answer."""
    return s.voice in SOUNDING and s.ask is not Ask.GOODBYE and not (s.firm and words is not Words.FILLER)


def _late_over_sound(s: State, e: ev.WordsHeard) -> bool:
    """Must these late words only be recorded as overheard, because their turn began while the agent was speaking?"""
    words = Words.SUBSTANTIAL if e.substantial else Words.FILLER
    return _over_sound(s, words) and e.turn > max(s.floor_turn, s.said)


def _overheard(step: CheckedStep, turn: int) -> bool:
    return fx.RecordOverheard(turn) in step.effects


def _begins(step: CheckedStep) -> bool:
    return goes(step, User.TALKING) and step.after.turn == step.before.turn + 1 and step.after.words is Words.NONE


def _words_after(before: Words, e: ev.WordsHeard) -> Words:
    """The kind of the turn's words after the text in `e` has come. It is PRESENCE if the text only asks whether the
    agent is there ("hello?"). If the turn already has substantial words, fillers don't change its kind."""
    if e.presence:
        return Words.PRESENCE
    return Words.SUBSTANTIAL if e.substantial or before is Words.SUBSTANTIAL else Words.FILLER


def _asks_for_presence(s: State, e: ev.Event) -> bool:
    """Do the words only ask whether the agent is still there, while the agent is silent and the user waits for
    something?"""
    is_asked = e.presence if isinstance(e, ev.WordsHeard) else s.words is Words.PRESENCE
    waits = s.said > s.answered or s.news or s.telling or has_foreground(s)
    is_over = s.fault is not None and s.fault.fatal
    return is_asked and s.voice is Voice.SILENT and waits and not is_over


def _closes(s: State, e: ev.Event) -> bool:
    """Does this event complete a turn that has more than filler words?"""
    if isinstance(e, ev.WordsHeard):
        is_text = s.user is User.TRANSCRIBING and e.turn == s.turn and e.final and e.words > 0
        return is_text and s.words is Words.SUBSTANTIAL and not e.presence
    if isinstance(e, ev.TimerFired) and e.timer is T.TEXT:
        return s.words is Words.SUBSTANTIAL
    return _may_end(s, e) and _is_read(s) and s.words is Words.SUBSTANTIAL


USER_PROMISES: tuple[Promise, ...] = (
    Promise(
        "speech or a press of the talk button begins a turn",
        (ev.SpeechStarted, ev.PttPressed),
        lambda s, e: _active(s) and s.user is User.QUIET,
        _begins,
    ),
    Promise(
        "speech after the endpoint begins the next turn",
        (ev.SpeechStarted, ev.PttPressed),
        lambda s, e: _active(s) and s.user is User.TRANSCRIBING,
        _begins,
    ),
    Promise(
        "speech before the endpoint continues the turn",
        (ev.SpeechStarted, ev.PttPressed),
        lambda s, e: _active(s) and s.user is User.SETTLING,
        lambda x: (
            goes(x, User.TALKING)
            and x.after.turn == x.before.turn
            and x.after.words is x.before.words
            and x.after.final == x.after.unread == x.before.final  # the final text isn't forgotten, but may grow
            and x.after.content == 0  # the same text may come again
        ),
    ),
    Promise(
        "when speech stops, the turn waits for its endpoint",
        (ev.SpeechStopped,),
        lambda s, e: _active(s) and s.user is User.TALKING,
        lambda x: goes(x, User.SETTLING) and x.after.words is x.before.words,
    ),
    Promise(
        "the words of the open turn are noted",
        (ev.WordsHeard,),
        lambda s, e: _active(s) and s.user in _OPEN and e.turn == s.turn and e.words > 0,
        lambda x: (
            x.after.user is x.before.user
            and x.after.final == x.event.final  # type: ignore[attr-defined]
            and not x.after.unread
            and (x.after.user is not User.SETTLING or x.after.due[_SETTLE] >= x.before.due[_SETTLE])
            and x.after.words is not Words.NONE
            and x.after.words is _words_after(x.before.words, x.event)  # type: ignore[arg-type]
        ),
    ),
    Promise(
        "an empty final transcript ends a turn that waits for its endpoint",
        (ev.WordsHeard,),
        lambda s, e: _active(s) and s.user is User.SETTLING and e.turn == s.turn and e.final and not e.words,
        lambda x: goes(x, User.QUIET) and does(x, fx.DiscardAudio) and x.after.said == x.before.said,
    ),
    Promise(
        "an empty final transcript takes the words of the turn back",
        (ev.WordsHeard,),
        lambda s, e: _active(s) and s.user is not User.QUIET and e.turn == s.turn and e.final and not e.words,
        lambda x: x.after.words is Words.NONE and not x.after.final and x.after.said == x.before.said,
    ),
    Promise(
        "an endpoint commits a turn that has its final text",
        (*_ENDS, T.SETTLE),
        lambda s, e: _active(s) and _may_end(s, e) and _is_read(s),
        lambda x: (
            goes(x, User.QUIET)
            and does(x, fx.CommitAudio)
            and x.after.words is Words.NONE
            and not x.after.final
            and not x.after.unread
        ),
    ),
    Promise(
        "an endpoint waits for the final text if it is missing",
        _ENDS,
        lambda s, e: _active(s) and _may_end(s, e) and not _is_read(s),
        lambda x: goes(x, User.TRANSCRIBING) and does(x, fx.CommitAudio) and x.after.words is x.before.words,
    ),
    Promise(
        "a turn that was sent waits a short time for its text, and other turns wait longer",
        (*_ENDS, T.SETTLE),
        lambda s, e: s.link in _TICKING and (_may_end(s, e) or (s.user is User.TRANSCRIBING and isinstance(e, _SENT))),
        lambda x: x.after.user is not User.TRANSCRIBING or x.after.due[_TEXT] == _text_due(x),
    ),
    Promise(
        "the user is told when a turn reaches its longest duration",
        (*_ENDS, T.SETTLE),
        lambda s, e: _active(s) and s.user in _OPEN,
        lambda x: (fx.WarnLongTalk(x.before.turn) in x.effects) == (trigger_of(x.event) is T.TALK),
    ),
    Promise(
        "the audio of a long turn is committed, and nothing else changes",
        (T.COMMIT,),
        lambda s, e: True,
        lambda x: (
            x.effects == (fx.CommitAudio(x.before.turn),)
            and x.after.due[_COMMIT] == x.after.at + x.after.settings.commit_ms
            and x.after._replace(at=0, due=_without_commit(x.after))
            == x.before._replace(at=0, due=_without_commit(x.before))
        ),
    ),
    Promise(
        "if turn-taking dismisses a sound without words, the turn ends, even if the sound goes on",
        (ev.SoundDismissed,),
        lambda s, e: (
            _active(s) and s.user in _OPEN and e.turn == s.turn and e.onset >= s.onset and s.words is Words.NONE
        ),
        lambda x: goes(x, User.QUIET) and does(x, fx.DiscardAudio) and x.after.said == x.before.said,
    ),
    Promise(
        "if turn-taking dismisses a sound that came after the final text, the turn ends with that text",
        (ev.SoundDismissed,),
        lambda s, e: _active(s) and s.user in _OPEN and e.turn == s.turn and e.onset >= s.onset and s.unread,
        lambda x: goes(x, User.QUIET) and does(x, fx.CommitAudio) and never(x, fx.DiscardAudio),
    ),
    Promise(
        "if turn-taking dismisses a sound of a turn with words, the turn ends and its words count",
        (ev.SoundDismissed,),
        lambda s, e: (
            _active(s) and s.user in _OPEN and e.turn == s.turn and e.onset >= s.onset and s.words is not Words.NONE
        ),
        lambda x: (
            goes(x, User.QUIET if x.before.final else User.TRANSCRIBING)
            and does(x, fx.CommitAudio)
            and never(x, fx.DiscardAudio)
        ),
    ),
    Promise(
        "an overheard turn that proves to be an answer is owed an answer",
        (ev.AnswerOverheard,),
        lambda s, e: _active(s) and s.said < e.turn and (e.turn < s.turn or s.user is User.QUIET),
        lambda x: (
            x.after.said == x.event.turn  # type: ignore[attr-defined]
            and x.after.check_ins == 0
            and x.after.voice is x.before.voice
            and x.after.user is x.before.user
            and does(x, fx.StartReply) == (quiet_floor(x.before) and x.before.user is User.QUIET)
            and (does(x, fx.StartReply) or x.after.asked == x.before.asked)
        ),
    ),
    Promise(
        "a turn that isn't over can't be an overheard answer",
        (ev.AnswerOverheard,),
        lambda s, e: e.turn == s.turn and s.user is not User.QUIET,
        lambda x: x.after is x.before,
    ),
    Promise(
        "a turn said over a firm reply is owed an answer, and the reply goes on",
        (*_ENDS, T.SETTLE, T.TEXT, ev.WordsHeard),
        lambda s, e: _active(s) and s.voice in SOUNDING and s.firm and _closes(s, e),
        lambda x: (
            x.after.said == x.before.turn
            and not _overheard(x, x.before.turn)
            and x.after.voice is x.before.voice
            and x.after.asked == x.before.asked
        ),
    ),
    Promise(
        "a turn with words that gets no endpoint is ended by a deadline",
        (T.SETTLE,),
        lambda s, e: s.words is not Words.NONE and not s.final,
        lambda x: goes(x, User.TRANSCRIBING) and does(x, fx.CommitAudio),
    ),
    Promise(
        "a sound without words is not a turn",
        (T.SETTLE,),
        lambda s, e: s.words is Words.NONE,
        lambda x: goes(x, User.QUIET) and does(x, fx.DiscardAudio) and x.after.said == x.before.said,
    ),
    Promise(
        "the final text or its deadline ends the wait for the text",
        (ev.WordsHeard, T.TEXT),
        lambda s, e: (
            _active(s)
            and s.user is User.TRANSCRIBING
            and (isinstance(e, ev.TimerFired) or (e.turn == s.turn and e.final))
        ),
        lambda x: goes(x, User.QUIET),
    ),
    Promise(
        "a complete turn is sent to the brain immediately if the floor is free",
        (*_ENDS, T.SETTLE, T.TEXT, ev.WordsHeard),
        lambda s, e: quiet_floor(s) and _closes(s, e),
        lambda x: goes(x, Reply.COMMITTING) and asks(x, x.before.turn),
    ),
    Promise(
        "a complete turn that can't be sent to the brain yet is queued",
        (*_ENDS, T.SETTLE, T.TEXT, ev.WordsHeard),
        lambda s, e: _active(s) and s.voice not in SOUNDING and not quiet_floor(s) and _closes(s, e),
        lambda x: x.after.said == x.before.turn and not _overheard(x, x.before.turn),
    ),
    Promise(
        "a turn spoken during playback is recorded as overheard",
        (*_ENDS, T.SETTLE, T.TEXT, ev.WordsHeard),
        lambda s, e: _active(s) and s.voice in SOUNDING and not s.firm and s.ask is not Ask.GOODBYE and _closes(s, e),
        lambda x: (
            _overheard(x, x.before.turn)
            and x.after.said == x.before.said
            and x.after.overheard == x.before.turn
            and x.after.check_ins == 0
        ),
    ),
    Promise(
        "words spoken over a goodbye make a turn, so the call goes on",
        (*_ENDS, T.SETTLE, T.TEXT, ev.WordsHeard),
        lambda s, e: _active(s) and s.voice in SOUNDING and s.ask is Ask.GOODBYE and _closes(s, e),
        lambda x: (
            x.after.said == x.before.turn
            and x.after.check_ins == 0
            and x.after.ending is not Ending.UNLESS_OPPOSED
            and never(x, fx.RecordOverheard)
        ),
    ),
    Promise(
        "filler words count as overheard while a reply is pending, and as a turn otherwise",
        (*_ENDS,),
        lambda s, e: (
            _active(s) and _may_end(s, e) and _is_read(s) and s.words is Words.FILLER and s.voice not in SOUNDING
        ),
        lambda x: (
            _overheard(x, x.before.turn)
            if x.before.reply in PENDING
            else x.after.said == x.before.turn and not _overheard(x, x.before.turn)
        ),
    ),
    Promise(
        "typed text closes the audio of an open turn",
        (ev.TextTyped,),
        lambda s, e: _active(s),
        lambda x: (
            does(x, fx.CommitAudio) == (x.before.user in _OPEN and x.before.words is not Words.NONE)
            and does(x, fx.DiscardAudio) == (x.before.user in _OPEN and x.before.words is Words.NONE)
        ),
    ),
    Promise(
        "typed text completes the open turn, or is a turn by itself",
        (ev.TextTyped,),
        lambda s, e: _active(s),
        lambda x: (
            goes(x, User.QUIET)
            and x.after.said == x.after.turn == x.before.turn + (not is_open(x.before))
            and x.after.check_ins == 0
            and x.after.words is Words.NONE
        ),
    ),
    Promise(
        "typed text is sent to the brain immediately if the floor is free",
        (ev.TextTyped,),
        lambda s, e: quiet_floor(s),
        lambda x: asks(x, x.after.turn),
    ),
    Promise(
        "late words of a turn that was not sent to the brain yet are added to that turn",
        (ev.WordsHeard,),
        lambda s, e: (
            _active(s)
            and _is_late(s, e)
            and e.turn > s.asked
            and s.voice not in SOUNDING
            and not (_asks_for_presence(s, e) and e.turn > s.said)
        ),
        lambda x: x.after.said >= x.event.turn and never(x, fx.RecordOverheard),  # type: ignore[attr-defined]
    ),
    Promise(
        "late words are added to their turn if it began before playback, is owed an answer, or is over a firm reply",
        (ev.WordsHeard,),
        lambda s, e: (
            _active(s) and _is_late(s, e) and s.voice in SOUNDING and e.turn > s.asked and not _late_over_sound(s, e)
        ),
        lambda x: x.after.said >= x.event.turn and never(x, fx.RecordOverheard),  # type: ignore[attr-defined]
    ),
    Promise(
        "late words of an answered turn, or of one spoken during playback, are overheard",
        (ev.WordsHeard,),
        lambda s, e: (
            _active(s)
            and _is_late(s, e)
            and (
                e.turn <= s.answered
                or _late_over_sound(s, e)
                or (e.turn <= s.asked and (s.heard_ms > 0 or not e.substantial))
            )
        ),
        lambda x: _overheard(x, x.event.turn) and x.after.said == x.before.said,  # type: ignore[attr-defined]
    ),
    Promise(
        "a turn that is changed by late words is sent to the brain again",
        (ev.WordsHeard,),
        lambda s, e: (
            _active(s) and _is_late(s, e) and s.answered < e.turn <= s.asked and e.substantial > 0 and not s.heard_ms
        ),
        lambda x: x.after.asked == x.after.answered or does(x, fx.StartReply),
    ),
    Promise(
        "late words are sent to the brain immediately if the floor is free",
        (ev.WordsHeard,),
        lambda s, e: (
            quiet_floor(s) and s.user is User.QUIET and e.words > 0 and e.turn > s.said and not _asks_for_presence(s, e)
        ),
        lambda x: asks(x, x.event.turn),  # type: ignore[attr-defined]
    ),
    Promise(
        "a turn with words resets the count of check-ins",
        (*_ENDS,),
        lambda s, e: quiet_floor(s) and _closes(s, e),
        lambda x: x.after.check_ins == 0,
    ),
    Promise(
        "a sound without words can't hold a ready reply back for ever",
        (T.READY,),
        lambda s, e: s.words is Words.NONE and is_open(s),
        lambda x: goes(x, User.QUIET, Voice.PLAYING) and does(x, fx.StartPlayback, fx.DiscardAudio),
    ),
    Promise(
        "a ready reply is dropped if the user keeps talking",
        (T.READY,),
        lambda s, e: s.words is not Words.NONE and is_open(s),
        lambda x: goes(x, Reply.NONE) and x.after.user is x.before.user and never(x, fx.StartPlayback),
    ),
    Promise(
        "words that come while a call is open are queued",
        (ev.WordsHeard, ev.TextTyped),
        lambda s, e: _active(s) and has_foreground(s) and s.reply in PENDING,
        lambda x: (
            never(x, fx.CancelReply, fx.StartReply) and (x.after.reply is x.before.reply or does(x, fx.StartPlayback))
        ),
    ),
)
