"""The effects: what the machine wants done. They are plain values, and only the runtime performs them.

Rule: an effect names the id of what it acts on, so that performing it late or twice can be detected.
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
    """Open the line and this session, then report SessionReady or SessionFailed. An older session is abandoned."""

    session: int
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class RenewSession(Effect):
    """Open the next session with the saved context before the current one ends."""

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
    """The turn's audio is complete: commit the audio buffer, so that the final text of the turn is made."""

    turn: int


@dataclass(frozen=True, slots=True)
class WarnLongTalk(Effect):
    """The turn has reached the longest time that a turn may take. It counts as complete: tell the person."""

    turn: int


@dataclass(frozen=True, slots=True)
class DiscardAudio(Effect):
    """The turn was only noise: discard the audio buffer."""

    turn: int


@dataclass(frozen=True, slots=True)
class RecordOverheard(Effect):
    """Record the words of this turn as overheard: they get no answer."""

    turn: int


@dataclass(frozen=True, slots=True)
class ReportLost(Effect):
    """Tell the person that these turns got no answer."""

    first: int
    last: int


# -- The reply


@dataclass(frozen=True, slots=True)
class GuessReply(Effect):
    """Send a request to the brain early: the turn `last` isn't certain to be over. Nothing of the reply is heard, and
    nothing that it does takes effect, unless a StartReply with the same id follows. A CancelReply drops it."""

    reply: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class StartReply(Effect):
    """Send a request to the brain. The reply answers turns `first` to `last`, or no turn if `last` < `first`. If a
    request with this id was already sent early (GuessReply), that request is used, and no other is sent."""

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
    """Continue from the exact sample at which playback was held."""

    voice: int


@dataclass(frozen=True, slots=True)
class StopPlayback(Effect):
    """Stop, clear every buffer, and report PlaybackStopped."""

    voice: int


@dataclass(frozen=True, slots=True)
class TruncateReply(Effect):
    """Cut the history's text of this voice to the part that was heard."""

    voice: int
    heard_ms: int


# -- Cues


@dataclass(frozen=True, slots=True)
class PlayCue(Effect):
    """Let the person hear this cue now. It replaces an earlier one."""

    cue: Cue


@dataclass(frozen=True, slots=True)
class StopCue(Effect):
    """Silence the cue, if one is heard."""


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
    """Show feedback while the person waits. Stage 1: still working, 2: making progress, 3: taking longer."""

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
    """Refuse a start: the session is inactive, audio isn't ready, or a conversation is already running."""

    already_running: bool


@dataclass(frozen=True, slots=True)
class ShowFault(Effect):
    """Show what went wrong, with guidance and without credentials."""

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
