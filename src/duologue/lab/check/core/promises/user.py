"""Promises about the user's turns: how they begin and end, and what words do, also when they come late."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ACTIVE, PENDING, SOUNDING, Reply, Timer, User, Voice, Words
from duologue.core.state import State, has_foreground

from ..laws import CheckedStep
from .promise import Promise, asks, does, goes, is_open, never, quiet_floor

T = Timer
_OPEN = (User.TALKING, User.SETTLING)
_ENDS = (ev.TurnEnded, ev.PttReleased, ev.SendPressed, T.TALK)


def _may_end(s: State, e: ev.Event) -> bool:
    """Can this event end the turn? A TurnEnded can't if it refers to an older onset (first sign of speech) than the
    newest one."""
    return s.user in _OPEN and (not isinstance(e, ev.TurnEnded) or e.onset >= s.onset)


def _active(s: State) -> bool:
    return s.link in ACTIVE


def _is_late(s: State, e: ev.WordsHeard) -> bool:
    late = e.turn < s.turn or s.user is User.QUIET
    return late and e.words > 0 and (e.final or e.turn > s.asked)


def _overheard(step: CheckedStep, turn: int) -> bool:
    return fx.RecordOverheard(turn) in step.effects


def _begins(step: CheckedStep) -> bool:
    return goes(step, User.TALKING) and step.after.turn == step.before.turn + 1 and step.after.words is Words.NONE


def _closes(s: State, e: ev.Event) -> bool:
    """Does this event complete a turn that has more than filler words?"""
    if isinstance(e, ev.WordsHeard):
        is_text = s.user is User.TRANSCRIBING and e.turn == s.turn and e.final and e.words > 0
        return is_text and s.words is Words.SUBSTANTIAL
    if isinstance(e, ev.TimerFired) and e.timer is T.TEXT:
        return s.words is Words.SUBSTANTIAL
    return _may_end(s, e) and s.final and s.words is Words.SUBSTANTIAL


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
            and not x.after.final
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
            and x.after.words is not Words.NONE
            and (x.after.words is Words.SUBSTANTIAL) == (x.before.words is Words.SUBSTANTIAL or x.event.substantial > 0)  # type: ignore[attr-defined]
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
        lambda s, e: _active(s) and _may_end(s, e) and s.final,
        lambda x: goes(x, User.QUIET) and does(x, fx.CommitAudio) and x.after.words is Words.NONE and not x.after.final,
    ),
    Promise(
        "an endpoint waits for the final text if it is missing",
        _ENDS,
        lambda s, e: _active(s) and _may_end(s, e) and not s.final,
        lambda x: goes(x, User.TRANSCRIBING) and does(x, fx.CommitAudio) and x.after.words is x.before.words,
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
        "a complete turn is asked immediately if the floor is free",
        (*_ENDS, T.SETTLE, T.TEXT, ev.WordsHeard),
        lambda s, e: quiet_floor(s) and _closes(s, e),
        lambda x: goes(x, Reply.COMMITTING) and asks(x, x.before.turn),
    ),
    Promise(
        "a complete turn that can't be asked yet is queued",
        (*_ENDS, T.SETTLE, T.TEXT, ev.WordsHeard),
        lambda s, e: _active(s) and s.voice not in SOUNDING and not quiet_floor(s) and _closes(s, e),
        lambda x: x.after.said == x.before.turn and not _overheard(x, x.before.turn),
    ),
    Promise(
        "a turn spoken during playback is recorded as overheard",
        (*_ENDS, T.SETTLE, T.TEXT, ev.WordsHeard),
        lambda s, e: _active(s) and s.voice in SOUNDING and _closes(s, e),
        lambda x: (
            _overheard(x, x.before.turn)
            and x.after.said == x.before.said
            and x.after.overheard == x.before.turn
            and x.after.check_ins == 0
        ),
    ),
    Promise(
        "filler words count as overheard while a reply is pending, and as a turn otherwise",
        (*_ENDS,),
        lambda s, e: _active(s) and _may_end(s, e) and s.final and s.words is Words.FILLER and s.voice not in SOUNDING,
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
        "typed text is asked immediately if the floor is free",
        (ev.TextTyped,),
        lambda s, e: quiet_floor(s),
        lambda x: asks(x, x.after.turn),
    ),
    Promise(
        "late words of a turn that was not asked yet are added to that turn",
        (ev.WordsHeard,),
        lambda s, e: _active(s) and _is_late(s, e) and e.turn > s.asked and s.voice not in SOUNDING,
        lambda x: x.after.said >= x.event.turn and never(x, fx.RecordOverheard),  # type: ignore[attr-defined]
    ),
    Promise(
        "late words of a turn from before the playback are added to that turn",
        (ev.WordsHeard,),
        lambda s, e: _active(s) and _is_late(s, e) and s.voice in SOUNDING and s.asked < e.turn <= s.floor_turn,
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
                or (s.voice in SOUNDING and e.turn > s.floor_turn)
                or (e.turn <= s.asked and (s.heard_ms > 0 or not e.substantial))
            )
        ),
        lambda x: _overheard(x, x.event.turn) and x.after.said == x.before.said,  # type: ignore[attr-defined]
    ),
    Promise(
        "a question that late words change is asked again",
        (ev.WordsHeard,),
        lambda s, e: (
            _active(s) and _is_late(s, e) and s.answered < e.turn <= s.asked and e.substantial > 0 and not s.heard_ms
        ),
        lambda x: x.after.asked == x.after.answered or does(x, fx.StartReply),
    ),
    Promise(
        "late words are asked immediately if the floor is free",
        (ev.WordsHeard,),
        lambda s, e: quiet_floor(s) and s.user is User.QUIET and e.words > 0 and e.turn > s.said,
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
