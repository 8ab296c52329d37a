"""Promises about the reply: how it is requested, arrives, fails and is replaced."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import LIVE, PENDING, Ask, Cue, Ending, ErrorClass, Link, Reply, Timer, User, Voice
from duologue.core.settings import POLICIES
from duologue.core.state import State, has_foreground, may_say

from ..laws import CheckedStep
from .promise import Promise, asks, does, goes, never

T = Timer
_OPEN = (Reply.COMMITTING, Reply.WAITING, Reply.GENERATING)
_HELD = (*_OPEN, Reply.READY)


def _live(s: State) -> bool:
    return s.link in LIVE


def _retry_left(s: State, e: ev.Event) -> bool:
    most = len(s.settings.retry_ms)
    allowed = min(most, POLICIES[e.error].retries_max) if isinstance(e, ev.ReplyFailed) else most
    return not s.called and s.retries < allowed


def _retryable(e: ev.Event) -> bool:
    return not isinstance(e, ev.ReplyFailed) or POLICIES[e.error].retries_max > 0


def _is_fault(e: ev.Event) -> bool:
    return not isinstance(e, ev.ReplyFailed) or e.error is not ErrorClass.SESSION_EXPIRED


def _may_ask(s: State) -> bool:
    """Is the user quiet, and is the call not about to end?"""
    return s.user is User.QUIET and s.ending is Ending.NO


def _asked_for(step: CheckedStep, ask: Ask) -> bool:
    starts = [effect for effect in step.effects if isinstance(effect, fx.StartReply)]
    return len(starts) == 1 and starts[0].ask is ask and step.after.ask is ask


def _owed_again(step: CheckedStep) -> bool:
    """Does the step drop a reply, and are the turns and the news of this reply owed an answer again? The brain may be
    asked again in this step or later. If tool calls of the reply are open, its turns must stay marked as asked, because
    the outputs of the calls will continue the answer."""
    asked = step.before.asked if has_foreground(step.after) else step.after.answered
    return (
        step.after.answered == step.before.answered
        and (step.after.asked == asked or does(step, fx.StartReply))
        and (step.after.news or step.after.telling or not (step.before.news or step.before.telling))
        and step.after.reply_id > step.before.reply_id
    )


def _adds(s: State, e: ev.WordsHeard | ev.TextTyped) -> bool:
    if isinstance(e, ev.TextTyped):
        return True
    return e.substantial > 0 and not e.presence and e.turn > (s.answered if e.final else s.asked)


REPLY_PROMISES: tuple[Promise, ...] = (
    Promise(
        "the brain is asked about unanswered turns and news after a beat, even if a noise continues",
        (T.BEAT, T.PATIENCE),
        lambda s, e: not may_say(s),
        lambda x: goes(x, Reply.COMMITTING) and asks(x, x.before.said) and _asked_for(x, Ask.ANSWER),
    ),
    Promise(
        "dead air leads to a check-in",
        (T.DEAD_AIR,),
        lambda s, e: _may_ask(s) and s.check_ins < s.settings.check_ins_max,
        lambda x: _asked_for(x, Ask.CHECK_IN) and x.after.check_ins == x.before.check_ins + 1,
    ),
    Promise(
        "dead air after the last check-in leads to a goodbye",
        (T.DEAD_AIR,),
        lambda s, e: _may_ask(s) and s.check_ins >= s.settings.check_ins_max and s.settings.hangs_up,
        lambda x: _asked_for(x, Ask.GOODBYE) and x.after.check_ins == x.before.check_ins,
    ),
    Promise(
        "dead air never interrupts a sound of the user, and nothing is asked when the call is about to end",
        (T.DEAD_AIR,),
        lambda s, e: not _may_ask(s),
        lambda x: x.effects == () and goes(x, x.before.user, x.before.reply),
    ),
    Promise(
        "after an interruption without words, the agent offers to go on",
        (T.OFFER,),
        lambda s, e: True,
        lambda x: _asked_for(x, Ask.OFFER) and not x.after.cut,
    ),
    Promise(
        "after an empty reply, the brain is asked once more",
        (ev.ReplyWasEmpty,),
        lambda s, e: _live(s) and s.reply in _OPEN and not s.called and s.retries == 0,
        lambda x: goes(x, Reply.RETRYING) and x.after.retries == 1 and x.after.answered == x.before.answered,
    ),
    Promise(
        "the user is told about a second empty reply",
        (ev.ReplyWasEmpty,),
        lambda s, e: _live(s) and s.reply in _OPEN and not s.called and s.retries > 0,
        lambda x: (
            does(x, fx.ReportLost) == (x.before.asked > x.before.answered)
            and (fx.PlayCue(Cue.CALL_MADE if x.before.telling else Cue.EMPTY) in x.effects)
            == (x.before.asked > x.before.answered and x.after.user is User.QUIET)
            and x.after.reply_id > x.before.reply_id
            and x.after.answered == x.before.asked
        ),
    ),
    Promise(
        "an empty reply that has made calls waits for their outputs",
        (ev.ReplyWasEmpty,),
        lambda s, e: _live(s) and s.reply in _OPEN and s.called,
        lambda x: x.after.answered == x.before.answered and x.after.reply in (Reply.NONE, Reply.COMMITTING),
    ),
    Promise(
        "a request includes all waiting news",
        (T.BEAT,),
        lambda s, e: s.news and not may_say(s),
        lambda x: not x.after.news and x.after.telling,
    ),
    Promise(
        "an accepted request waits for its first token",
        (ev.ReplyAccepted,),
        lambda s, e: _live(s) and s.reply is Reply.COMMITTING,
        lambda x: goes(x, Reply.WAITING),
    ),
    Promise(
        "the first token moves the reply to generating",
        (ev.TokenArrived,),
        lambda s, e: _live(s) and s.reply in (Reply.COMMITTING, Reply.WAITING),
        lambda x: goes(x, Reply.GENERATING),
    ),
    Promise(
        "the first audio of a reply is played immediately if the user is quiet",
        (ev.AudioBuffered,),
        lambda s, e: s.link is Link.UP and s.reply in _OPEN and s.user is User.QUIET,
        lambda x: (
            goes(x, Voice.PLAYING, Reply.NONE)
            and does(x, fx.StartPlayback)
            and x.after.floor_turn == x.before.turn
            and x.after.heard_ms == 0
            and x.after.retries == 0
        ),
    ),
    Promise(
        "the first audio of a reply waits while the user talks or the link is not up",
        (ev.AudioBuffered,),
        lambda s, e: _live(s) and s.reply in _OPEN and (s.user is not User.QUIET or s.link is not Link.UP),
        lambda x: goes(x, Reply.READY, Voice.SILENT),
    ),
    Promise(
        "a reply that ends without audio counts as the answer",
        (ev.ReplyFinished,),
        lambda s, e: s.ask is not Ask.SAY and _live(s) and s.reply in _OPEN and not s.called,
        lambda x: (
            goes(x, Reply.NONE)
            and x.after.answered >= x.before.asked
            and x.after.reply_id > x.before.reply_id
            and x.after.faults_in_a_row == 0
            and x.after.retries == 0
            and not x.after.telling
        ),
    ),
    Promise(
        "a reply that made calls doesn't count as the answer when it ends",
        (ev.ReplyFinished,),
        lambda s, e: _live(s) and s.reply in _OPEN and s.called,
        lambda x: x.after.reply in (Reply.NONE, Reply.COMMITTING) and x.after.answered == x.before.answered,
    ),
    Promise(
        "a failed request is retried while retries are left",
        (ev.ReplyFailed, T.ATTEMPT),
        lambda s, e: _live(s) and s.reply in _HELD and _retry_left(s, e) and _is_fault(e),
        lambda x: (
            goes(x, Reply.RETRYING)
            and x.after.retries == x.before.retries + 1
            and does(x, fx.CancelReply)
            and x.after.link is x.before.link
        ),
    ),
    Promise(
        "a failed request that can't be retried is a fault",
        (ev.ReplyFailed, T.ATTEMPT, T.ANSWER),
        lambda s, e: (
            _live(s)
            and s.reply in PENDING
            and (s.reply in _HELD or isinstance(e, ev.TimerFired))
            and _is_fault(e)
            and not (s.called and _retryable(e))
            and ((isinstance(e, ev.TimerFired) and e.timer is T.ANSWER) or not _retry_left(s, e))
        ),
        lambda x: goes(x, Link.FAULTED, Reply.NONE) and x.after.retries == 0,
    ),
    Promise(
        "a reply that fails after a call is not retried, and its turns stay unanswered",
        (ev.ReplyFailed, T.ANSWER),
        lambda s, e: _live(s) and s.reply in _HELD and s.called and _retryable(e) and _is_fault(e),
        lambda x: x.after.link is x.before.link and x.after.reply is not Reply.RETRYING and _owed_again(x),
    ),
    Promise(
        "a retry sends the same request again",
        (T.RETRY,),
        lambda s, e: s.ask is not Ask.SAY,
        lambda x: (
            goes(x, Reply.COMMITTING)
            and _asked_for(x, x.before.ask)
            and x.after.telling == (x.before.telling or x.before.news)
        ),
    ),
    Promise(
        "words that the user adds before the answer is played cancel the request",
        (ev.WordsHeard, ev.TextTyped),
        lambda s, e: _live(s) and s.reply in PENDING and _adds(s, e) and not has_foreground(s),
        lambda x: (
            _owed_again(x)
            and (does(x, fx.CancelReply) or x.before.reply is Reply.RETRYING)
            and x.after.ask is Ask.ANSWER
        ),
    ),
    Promise(
        "a sound without words cancels no request",
        (ev.SpeechStarted, ev.SpeechStopped, ev.PttPressed),
        lambda s, e: _live(s) and s.reply in PENDING,
        lambda x: x.after.reply is x.before.reply and never(x, fx.CancelReply, fx.StartReply, fx.StartPlayback),
    ),
    Promise(
        'filler words and "hello?" cancel no request',
        (ev.WordsHeard,),
        lambda s, e: _live(s) and s.reply in PENDING and (e.substantial == 0 or (e.presence and e.turn > s.asked)),
        lambda x: (
            never(x, fx.CancelReply, fx.StartReply) and (x.after.reply is x.before.reply or does(x, fx.StartPlayback))
        ),
    ),
    Promise(
        "an interrupt request before the answer is played drops the answer",
        (ev.InterruptRequested,),
        lambda s, e: _live(s) and s.reply in PENDING,
        lambda x: (
            x.after.answered == x.before.asked
            and (
                (x.after.reply is Reply.NONE and not x.after.telling) or x.before.said > x.before.asked or x.before.news
            )
            and (does(x, fx.CancelReply) or x.before.reply is Reply.RETRYING)
        ),
    ),
)
