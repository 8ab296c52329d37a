"""What the machine wants done. Effects are imperative values; only the runtime performs them.

Rule: an effect names the id of what it acts on, so that performing it late or twice can be told.
"""

from __future__ import annotations

from dataclasses import dataclass

from .leaves import Ask, ErrorClass, FaultSource, Outcome


@dataclass(frozen=True, slots=True)
class Effect:
    """Something to do."""


# -- The session


@dataclass(frozen=True, slots=True)
class OpenSession(Effect):
    """Make this session and prime audio; answer with SessionReady or SessionFailed. An older session
    is given up."""

    session: int
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class RenewSession(Effect):
    """Make the next session with the saved context before this one ends."""

    session: int


@dataclass(frozen=True, slots=True)
class CloseSession(Effect):
    session: int


@dataclass(frozen=True, slots=True)
class SaveContext(Effect):
    """Summarise and keep what a new session must know."""


@dataclass(frozen=True, slots=True)
class RestoreContext(Effect):
    """Put the kept context, if there is any, into this session, and give the cue that it goes on."""

    session: int


# -- The person's input


@dataclass(frozen=True, slots=True)
class CommitAudio(Effect):
    """The turn's audio is complete: commit the buffer."""

    turn: int


@dataclass(frozen=True, slots=True)
class DiscardAudio(Effect):
    """It was a noise: forget the buffer."""

    turn: int


@dataclass(frozen=True, slots=True)
class RecordOverheard(Effect):
    """These words were heard and will not be answered."""

    turn: int


@dataclass(frozen=True, slots=True)
class ReportLost(Effect):
    """Tell the person that these turns got no answer."""

    first: int
    last: int


# -- The reply


@dataclass(frozen=True, slots=True)
class StartReply(Effect):
    """Ask the brain. The request answers turns first..last (none if last < first)."""

    reply: int
    first: int
    last: int
    ask: Ask = Ask.ANSWER


@dataclass(frozen=True, slots=True)
class CancelReply(Effect):
    reply: int


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
    """Go on from the very sample where it was held."""

    voice: int


@dataclass(frozen=True, slots=True)
class StopPlayback(Effect):
    """Stop, clear every buffer, and answer with PlaybackStopped."""

    voice: int


@dataclass(frozen=True, slots=True)
class TruncateReply(Effect):
    """The history keeps what was heard of this voice and no more."""

    voice: int
    heard_ms: int


# -- Work


@dataclass(frozen=True, slots=True)
class RunCall(Effect):
    call: int


@dataclass(frozen=True, slots=True)
class CancelWork(Effect):
    call: int


@dataclass(frozen=True, slots=True)
class PostOutput(Effect):
    """The one output of this call, into the brain's history."""

    call: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PostNews(Effect):
    """What a dispatched job has to tell, into the brain's history."""

    call: int
    outcome: Outcome


# -- What people see


@dataclass(frozen=True, slots=True)
class ShowProgress(Effect):
    call: int


@dataclass(frozen=True, slots=True)
class ShowWait(Effect):
    """Feedback while the person waits: 1 still working, 2 making progress, 3 taking longer."""

    call: int
    stage: int


@dataclass(frozen=True, slots=True)
class WarnSilentJob(Effect):
    """No sign of life for too long; the job goes on."""

    call: int


@dataclass(frozen=True, slots=True)
class WarnLongSpeech(Effect):
    voice: int


@dataclass(frozen=True, slots=True)
class RefuseStart(Effect):
    """A start that can't be: inactive session, unprimed audio, or a conversation already runs."""

    already_running: bool


@dataclass(frozen=True, slots=True)
class ShowFault(Effect):
    """Say what went wrong, with guidance and without credentials."""

    part: FaultSource
    error: ErrorClass
    fatal: bool


@dataclass(frozen=True, slots=True)
class ClearFault(Effect):
    """The fault is over."""


EFFECTS: tuple[type[Effect], ...] = tuple(
    value
    for value in list(globals().values())
    if isinstance(value, type) and issubclass(value, Effect) and value is not Effect
)
