"""Describes a step in plain words: what happened, and what was done about it.

The descriptions are for people who watch a conversation or read a journal. Rule: every kind of event and effect has a
text here, which is empty if it needs no description. Steps that the conversation machine ignored aren't described.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, Cue, ErrorClass, Reply, Timer

from .journal import StepRecord

Words: TypeAlias = str | Callable[[Any], str]


class StoryLine(NamedTuple):
    """One step in words: when it happened, what happened, and what was done about it."""

    at_ms: int
    happened: str
    done: tuple[str, ...]


def describe(record: StepRecord) -> StoryLine | None:
    """The description of a step. None if the conversation machine ignored the event, or if the event's type is in QUIET
    and nothing was done about it."""
    if record.after is record.before:
        return None
    done = tuple(words for effect in record.effects if (words := _say(EFFECT_WORDS[type(effect)], effect)))
    done += _consequences(record)
    event = record.event
    if isinstance(event, ev.TimerFired):
        happened = TIMER_WORDS.get(event.timer, f"deadline {event.timer.value} passes")
    else:
        happened = _say(EVENT_WORDS[type(event)], event)
    if not done and type(event) in QUIET:
        return None
    return StoryLine(event.at, happened, done)


def _say(words: Words, of: Any) -> str:
    return words if isinstance(words, str) else words(of)


def _consequences(record: StepRecord) -> tuple[str, ...]:
    """Consequences of a step that its effects don't show, such as "queued for later"."""
    before, after = record.before, record.after
    if after.reply is Reply.READY and before.reply is not Reply.READY:
        return ("answer waits for the floor",)
    asked = any(isinstance(effect, fx.StartReply) for effect in record.effects)
    if after.said > before.said and not asked:
        return ("queued for later",)
    return ()


def _request(effect: fx.StartReply) -> str:
    if effect.ask is Ask.ANSWER:
        return "request sent" if effect.last >= effect.first else "news sent to the brain"
    return f"{_REQUESTS[effect.ask]} requested"


def _fault(effect: fx.ShowFault) -> str:
    return f"{'fatal ' if effect.fatal else ''}fault shown: {effect.part.value}, {_error(effect.error)}"


def _error(error: ErrorClass) -> str:
    return error.value.lower().replace("_", " ")


_REQUESTS = {
    Ask.CHECK_IN: "check-in",
    Ask.GOODBYE: "goodbye",
    Ask.OFFER: "offer to go on",
    Ask.SAY: "text from the program",
}
_CUES = {
    Cue.SOUND: "thinking sound heard",
    Cue.WORDS: "user is told what is going on",
    Cue.PRESENCE: "user is told that the agent is there",
    Cue.APOLOGY: "user is told that the question gets no answer",
    Cue.EMPTY: "user is told that the answer is empty",
    Cue.BROKEN_OFF: "user is told that the answer broke off",
    Cue.CALL_MADE: "user is told that the answer failed after a call",
    Cue.ENDED: "user is told that the conversation ends",
}
_WAITS = {1: "still working", 2: "making progress", 3: "taking longer than expected"}

# Events that come many times a second, or only prepare another step. They are described only if they cause something.
QUIET: tuple[type[ev.Event], ...] = (
    ev.SpeechStopped,
    ev.WordsHeard,
    ev.ReplyAccepted,
    ev.TokenArrived,
    ev.ReplyFinished,
    ev.PlaybackProgressed,
    ev.TimerFired,
)

EVENT_WORDS: dict[type[ev.Event], Words] = {
    ev.StartRequested: "call starts",
    ev.EndRequested: "call is ended",
    ev.EndAfterSpeaking: "call is to end when everything is said",
    ev.InterruptRequested: "interruption is requested",
    ev.SuspendRequested: "pause is requested",
    ev.ResumeRequested: "pause is over",
    ev.ReconnectRequested: "new session is requested",
    ev.RetryRequested: "user presses retry",
    ev.DismissRequested: "user dismisses the fault",
    ev.PttPressed: "user presses to talk",
    ev.PttReleased: "user releases the button",
    ev.SendPressed: "user presses send",
    ev.TextTyped: "user types a message",
    ev.CancelRequested: lambda e: f"user cancels job {e.call}",
    ev.SpeechStarted: "user makes a sound",
    ev.SpeechStopped: "user falls silent",
    ev.WordsHeard: "words are recognised",
    ev.SpeechRequested: "program wants to say something",
    ev.TurnTaken: "program takes the answer to its question",
    ev.AgentChangeRequested: lambda e: "another agent takes the conversation" if e.speaks else "agent is changed",
    ev.PersonSeen: "user is at the screen",
    ev.TurnGuessed: "user may have finished",
    ev.TurnEnded: "user has finished",
    ev.SoundDismissed: "sound is only noise",
    ev.QuestionMissed: "question was lost with the line",
    ev.AnswerOverheard: "overheard words answer the question",
    ev.OverlapJudged: lambda e: "user wants the floor" if e.bid else "user does not want the floor",
    ev.SessionReady: "session is ready",
    ev.SessionFailed: lambda e: f"session fails: {_error(e.error)}",
    ev.SessionClosed: "session is closed",
    ev.SessionEnded: "session ends before the next one is ready",
    ev.LinkWobbled: "line is interrupted",
    ev.LinkHealed: "line is back",
    ev.LinkClosed: "line is lost",
    ev.ServiceFailed: lambda e: f"service fails: {e.part.value}, {_error(e.error)}",
    ev.ReplyAccepted: "brain accepts the request",
    ev.TokenArrived: "first token arrives",
    ev.AudioBuffered: "first audio is ready",
    ev.ReplyFinished: "brain has finished",
    ev.ReplyWasEmpty: "brain had nothing to say",
    ev.ReplyFailed: lambda e: f"brain fails: {_error(e.error)}",
    ev.ReplyBecameFirm: "answer can't be interrupted any more",
    ev.ToolCalled: "brain calls a tool",
    ev.PlaybackProgressed: "sound is heard",
    ev.PlaybackFinished: "answer was heard to its end",
    ev.PlaybackStopped: "line confirms silence",
    ev.LastWordsHeard: "last words were heard",
    ev.VoicesPlayed: "client has played more than was saved",
    ev.PlaybackFailed: lambda e: f"playback fails: {_error(e.error)}",
    ev.CallDelegated: lambda e: f"call {e.call} becomes a long job",
    ev.CallDispatched: lambda e: f"call {e.call} goes to the background",
    ev.JobProgressed: lambda e: f"job {e.call} reports progress",
    ev.JobAsked: lambda e: f"job {e.call} has a question",
    ev.JobFinished: lambda e: f"job {e.call} is done",
    ev.JobFailed: lambda e: f"job {e.call} fails: {_error(e.error)}",
    ev.TimerFired: "deadline passes",
}

TIMER_WORDS: dict[Timer, str] = {
    Timer.BACKOFF: "time to reconnect",
    Timer.BEAT: "floor is free",
    Timer.BREATH: "short pause is over",
    Timer.CUE: "user waits in silence",
    Timer.DEAD_AIR: "silence lasts too long",
    Timer.DISMISS: "fault was shown long enough",
    Timer.FEEDBACK: "user is waiting",
    Timer.LAST_WORDS: "everything is said",
    Timer.LULL: "no words came with the sound",
    Timer.OFFER: "interruption had no words",
    Timer.OVERLAP: "no verdict came on the sound",
    Timer.PATIENCE: "noise lasts too long",
    Timer.RENEW: "next session is not ready in time",
    Timer.RETRY: "time to try again",
    Timer.SESSION_LIMIT: "session reaches its limit",
    Timer.SETTLE: "silence lasts long enough",
    Timer.SUSPEND: "pause lasts too long",
    Timer.TALK: "turn reaches its limit",
}

EFFECT_WORDS: dict[type[fx.Effect], Words] = {
    fx.OpenSession: "session opened",
    fx.RenewSession: "next session opened",
    fx.CloseSession: "session closed",
    fx.SaveContext: "context saved",
    fx.RestoreContext: lambda e: "context restored" if e.session > 1 else "",  # the first session has no context
    fx.CommitAudio: "",  # needs no words: the steps that follow show the effect
    fx.WarnLongTalk: "user is told that the turn was too long",
    fx.DiscardAudio: "discarded as noise",
    fx.RecordOverheard: "overheard, not answered",
    fx.ReportLost: "reported as unanswered",
    fx.ChangeAgent: "agent changed",
    fx.GuessReply: "request sent early",
    fx.StartReply: _request,
    fx.CancelReply: "request cancelled",
    fx.StartPlayback: "agent speaks",
    fx.HoldPlayback: "playback held",
    fx.ResumePlayback: "playback resumed",
    fx.StopPlayback: "playback stopped",
    fx.TruncateReply: lambda e: f"history cut at {e.heard_ms / 1000:.2f} s",
    fx.PlayCue: lambda e: _CUES[e.cue],
    fx.StopCue: "",  # it is emitted at every onset, whether a cue is heard or not
    fx.RunCall: lambda e: f"call {e.call} runs",
    fx.CancelWork: lambda e: f"job {e.call} cancelled",
    fx.PostOutput: lambda e: f"output of call {e.call}: {e.outcome.value.replace('_', ' ')}",
    fx.PostNews: lambda e: f"news of job {e.call}: {e.outcome.value.replace('_', ' ')}",
    fx.ShowProgress: "progress shown",
    fx.ShowWait: lambda e: f'shown: "{_WAITS.get(e.stage, _WAITS[3])}"',
    fx.WarnSilentJob: lambda e: f"warning: job {e.call} is silent",
    fx.WarnLongSpeech: "warning: a long speech",
    fx.RefuseStart: "start refused",
    fx.ShowFault: _fault,
    fx.ClearFault: "fault cleared",
}
