"""The effects: what the state machine asks the runtime to do. They are plain values, and only the runtime carries them
out.

Rule: an effect contains the id of what it acts on, such as a session, so that the runtime notices if it carries out an
effect too late or twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from .leaves import Ask, Cue, ErrorClass, FaultSource, Outcome


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that the runtime has to do."""


# -- The session


@dataclass(frozen=True, slots=True)
class OpenSession(Effect):
    """Open the line and this session, then report SessionReady or SessionFailed. If there is an older session, abandon
    it."""

    session: int
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class RenewSession(Effect):
    """Open the next session with the saved context, before the current session ends."""

    session: int


@dataclass(frozen=True, slots=True)
class CloseSession(Effect):
    """Close this session, then report SessionClosed."""

    session: int


@dataclass(frozen=True, slots=True)
class SaveContext(Effect):
    """Summarise and save what a new session must know."""


@dataclass(frozen=True, slots=True)
class RestoreContext(Effect):
    """Load the saved context, if any, into this session, and signal that the conversation continues."""

    session: int


# -- The person's input


@dataclass(frozen=True, slots=True)
class CommitAudio(Effect):
    """The audio of the turn is complete. Commit the audio buffer, so that the ears (STT) make the final text of the
    turn."""

    turn: int


@dataclass(frozen=True, slots=True)
class WarnLongTalk(Effect):
    """Tell the person that the turn has become too long and counts as complete now."""

    turn: int


@dataclass(frozen=True, slots=True)
class DiscardAudio(Effect):
    """The turn was only noise: discard the audio buffer."""

    turn: int


@dataclass(frozen=True, slots=True)
class RecordOverheard(Effect):
    """Record the words of this turn as overheard, which means that they get no answer."""

    turn: int


@dataclass(frozen=True, slots=True)
class ReportLost(Effect):
    """Tell the person that these turns got no answer."""

    first: int
    last: int


# -- The reply


@dataclass(frozen=True, slots=True)
class GuessReply(Effect):
    """Send a request to the brain early, while it isn't certain that the turn `last` is over. No part of the reply is
    played, and its tool calls have no effect, unless a StartReply with the same id follows. A CancelReply drops the
    request."""

    reply: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class StartReply(Effect):
    """Send a request to the brain. The reply answers turns `first` to `last`, or no turn if `last` < `first`. If a
    request with this id was already sent early (GuessReply), that request is used, and no new one is sent."""

    reply: int
    first: int
    last: int
    ask: Ask = Ask.ANSWER


@dataclass(frozen=True, slots=True)
class CancelReply(Effect):
    reply: int


@dataclass(frozen=True, slots=True)
class ChangeAgent(Effect):
    """Apply the change of the agent that the program has requested. If `speaks` is set, another agent takes over the
    conversation and speaks next."""

    speaks: bool


# -- The sound


@dataclass(frozen=True, slots=True)
class StartPlayback(Effect):
    voice: int
    reply: int


@dataclass(frozen=True, slots=True)
class HoldPlayback(Effect):
    voice: int


@dataclass(frozen=True, slots=True)
class ResumePlayback(Effect):
    """Continue playback at the exact sample at which it was held."""

    voice: int


@dataclass(frozen=True, slots=True)
class StopPlayback(Effect):
    """Stop playback, drop all buffered sound, and report PlaybackStopped."""

    voice: int


@dataclass(frozen=True, slots=True)
class TruncateReply(Effect):
    """In the history, shorten the text of this voice (stretch of the agent's speech) to the part that was heard."""

    voice: int
    heard_ms: int


# -- Cues


@dataclass(frozen=True, slots=True)
class PlayCue(Effect):
    """Play this cue (a short sound or phrase) to the person now. If another cue is still playing, the new cue replaces
    it."""

    cue: Cue


@dataclass(frozen=True, slots=True)
class StopCue(Effect):
    """Stop the cue (a short sound or phrase that belongs to no reply), if one is playing."""


# -- Work


@dataclass(frozen=True, slots=True)
class RunCall(Effect):
    call: int


@dataclass(frozen=True, slots=True)
class CancelWork(Effect):
    call: int


@dataclass(frozen=True, slots=True)
class PostOutput(Effect):
    """Add the output of this tool call to the brain's history. Each call gets exactly one output."""

    call: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PostNews(Effect):
    """Add the result or question of a dispatched job to the brain's history."""

    call: int
    outcome: Outcome


# -- What people see


@dataclass(frozen=True, slots=True)
class ShowProgress(Effect):
    call: int


@dataclass(frozen=True, slots=True)
class ShowWait(Effect):
    """Show feedback to the person who waits for a tool call. Stage 1 means that the work goes on, stage 2 that it makes
    progress, and stage 3 that it takes longer."""

    call: int
    stage: int


@dataclass(frozen=True, slots=True)
class WarnSilentJob(Effect):
    """Warn that the job has shown no progress for too long. The job continues."""

    call: int


@dataclass(frozen=True, slots=True)
class WarnLongSpeech(Effect):
    voice: int


@dataclass(frozen=True, slots=True)
class RefuseStart(Effect):
    """Refuse to start a conversation: the session is inactive, audio isn't ready, or a conversation is already
    running."""

    already_running: bool


@dataclass(frozen=True, slots=True)
class ShowFault(Effect):
    """Show what went wrong and what to do about it. The text contains no credentials."""

    part: FaultSource
    error: ErrorClass
    fatal: bool


@dataclass(frozen=True, slots=True)
class ClearFault(Effect):
    """Stop showing the fault."""


EFFECTS: tuple[type[Effect], ...] = tuple(
    value
    for value in list(globals().values())
    if isinstance(value, type) and issubclass(value, Effect) and value is not Effect
)
