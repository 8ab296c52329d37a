"""Promises about the program: what it says, which turns it takes, and how it changes the agent."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ACTIVE, PENDING, TIMER_INDEX, Ask, Link, Reply, Timer, Voice
from duologue.core.state import may_say

from ..laws import CheckedStep
from .promise import Promise, does, goes, never


def _says(x: CheckedStep) -> bool:
    """Did the step begin to say the text that the program has ordered? The step must make exactly one request, and this
    request must not be an answer to any turn."""
    starts = [effect for effect in x.effects if isinstance(effect, fx.StartReply)]
    return len(starts) == 1 and starts[0].ask is Ask.SAY and starts[0].last < starts[0].first and not x.after.says


def _keeps_questions(x: CheckedStep) -> bool:
    return (x.after.answered, x.after.said) == (x.before.answered, x.before.said)


PROGRAM_PROMISES: tuple[Promise, ...] = (
    Promise(
        "text from the program waits until both sides are quiet and no answer is owed",
        (ev.SpeechRequested,),
        lambda s, e: s.link in ACTIVE,
        lambda x: x.after.says and never(x, fx.StartReply, fx.CancelReply, fx.StopPlayback),
    ),
    Promise(
        "if text from the program may be said, the deadline of a beat is set for it",
        (ev.SpeechRequested,),
        lambda s, e: s.link is Link.UP and may_say(s._replace(says=True)),
        lambda x: x.after.due[TIMER_INDEX[Timer.BEAT]] > 0,
    ),
    Promise(
        "text from the program is said after a beat, and doesn't count as an answer to a turn",
        (Timer.BEAT,),
        lambda s, e: may_say(s),
        lambda x: goes(x, Reply.COMMITTING) and _says(x) and _keeps_questions(x),
    ),
    Promise(
        "text from the program that was heard counts as said, but not as an answer to a turn",
        (ev.PlaybackFinished,),
        lambda s, e: s.voice in (Voice.PLAYING, Voice.HELD) and s.ask is Ask.SAY,
        lambda x: _keeps_questions(x) and x.after.says == x.before.says,
    ),
    Promise(
        "text from the program is said again if no part of it was heard",
        (Timer.STOP,),
        lambda s, e: s.ask is Ask.SAY and s.heard_ms == 0,
        lambda x: x.after.says,
    ),
    Promise(
        "when the request for text from the program is retried, the same text is requested again",
        (Timer.RETRY,),
        lambda s, e: s.ask is Ask.SAY,
        _says,
    ),
    Promise(
        "a turn that the program has taken is not sent to the brain",
        (ev.TurnTaken,),
        lambda s, e: s.link in ACTIVE and s.answered < e.turn <= s.said,
        lambda x: (
            isinstance(x.event, ev.TurnTaken)
            and x.after.answered >= x.event.turn
            and (x.before.reply not in PENDING or x.after.reply_id > x.before.reply_id)
            and (x.after.news or x.after.telling or not (x.before.news or x.before.telling))
        ),
    ),
    Promise(
        "a change of the agent is applied in the same step",
        (ev.AgentChangeRequested,),
        lambda s, e: s.link in ACTIVE,
        lambda x: isinstance(x.event, ev.AgentChangeRequested) and fx.ChangeAgent(x.event.speaks) in x.effects,
    ),
    Promise(
        "another agent takes over, and the turns without an answer are sent to it",
        (ev.AgentChangeRequested,),
        lambda s, e: s.link in ACTIVE and e.speaks,
        lambda x: (x.after.news or does(x, fx.StartReply)) and _keeps_questions(x),
    ),
    Promise(
        "a change that keeps the same agent doesn't touch the reply",
        (ev.AgentChangeRequested,),
        lambda s, e: s.link in ACTIVE and not e.speaks,
        lambda x: x.after.reply_id == x.before.reply_id and x.after.reply is x.before.reply,
    ),
)
