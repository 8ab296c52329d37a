"""The signals on the bus. They report states that were entered or left, turns, captions, work and faults.

Signals are plain frozen values for screens, logs and programs. Rule: a field contains spoken or written words only if
its documentation says so, and such a field is never logged. All other fields are names, counts and times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from duologue.core.leaves import ErrorClass, FaultSource, Outcome

from .hearing_fact import HearingStatus


@dataclass(frozen=True, slots=True)
class Signal:
    """Something that happened. `at` is in milliseconds since the conversation was created."""

    at: int


# -- States of a view


@dataclass(frozen=True, slots=True)
class StateExited(Signal):
    view: str
    state: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Transitioned(Signal):
    """A view has changed its state. A view is a set of names for the state of a whole conversation, such as
    "listening". `cause` is the name of the event or timer that caused the change."""

    view: str
    source: str
    target: str
    cause: str


@dataclass(frozen=True, slots=True)
class StateEntered(Signal):
    """A view (a set of names for the state of a conversation, such as "listening") has entered a state. `label` is the
    name of the state for people to read, in their language."""

    view: str
    state: str
    label: str
    context: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimedOut(Signal):
    """A deadline of the conversation machine has passed."""

    timer: str
    call: int = 0


@dataclass(frozen=True, slots=True)
class HearingChanged(Signal):
    """The status of hearing (can the person be heard, and if not, why?) has changed. `hearing` is the new status, such
    as "on" or "muted"."""

    hearing: HearingStatus


@dataclass(frozen=True, slots=True)
class AttentionChanged(Signal):
    """The person has come back to the screen (`here` is true) or has left it."""

    here: bool


# -- Turns. The field `transcript` of TurnContext contains words.


@dataclass(frozen=True, slots=True)
class TurnContext:
    turn: int
    role: str  # user or assistant
    started_at: int
    transcript: str = ""
    confidence: float | None = None
    reply: int = 0
    interruptions: int = 0
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class TurnStarted(Signal):
    turn: TurnContext


@dataclass(frozen=True, slots=True)
class TurnCompleted(Signal):
    turn: TurnContext


@dataclass(frozen=True, slots=True)
class TurnInterrupted(Signal):
    """The agent's turn was cut short. `by` says why: "user" (the person interrupted), "line" (the connection was lost),
    "fault", "end" (the conversation ended), or the source that was passed to `interrupt`, such as "button"."""

    turn: TurnContext
    by: str = "user"


@dataclass(frozen=True, slots=True)
class TurnDropped(Signal):
    """A turn of the person gets no answer. The reason is that it was only noise, that it was overheard (for example,
    said while the agent spoke), or that the conversation ended during the turn."""

    turn: TurnContext
    why: str  # noise, overheard or lost


@dataclass(frozen=True, slots=True)
class TurnLimited(Signal):
    """The person has talked for as long as a turn may last. The words so far are answered, and what the person says
    from now on is the next turn."""

    turn: int


@dataclass(frozen=True, slots=True)
class TurnAudioCommitted(Signal):
    """The audio of the person's turn was committed: it is complete and can be transcribed. `audio_ms` is the length of
    this audio, from the start of the turn, or from the previous commit in the same turn, until now. A long turn is
    committed in several pieces."""

    turn: int
    audio_ms: int


@dataclass(frozen=True, slots=True)
class Decided(Signal):
    """Turn-taking has made a decision. `decision` is end_of_turn, asked_early, barge_in or resume."""

    decision: str
    reasons: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Caption(Signal):
    """Words of the person or the agent, while they are heard. `text` is what was heard so far. `unheard` is text of the
    agent that hasn't been spoken yet or was cut off."""

    role: str
    text: str
    unheard: str = ""
    final: bool = False
    turn: int = 0
    reply: int = 0
    voice: int = 0


@dataclass(frozen=True, slots=True)
class ServiceSwitched(Signal):
    """The ears, the voice or the brain (`part`) now uses another service. `why` is the error class if the previous
    service failed, "slow" if it was too slow, or "healthy" if the part returns to a service that it prefers."""

    part: str
    source: str
    target: str
    why: str


# -- Work


@dataclass(frozen=True, slots=True)
class WorkStarted(Signal):
    call: int
    tool: str
    mode: str


@dataclass(frozen=True, slots=True)
class WorkProgressed(Signal):
    """A worker has reported progress. `text` is the report. It may contain words of the conversation, so it is never
    logged."""

    call: int
    tool: str
    text: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class WorkAsked(Signal):
    """A worker asks the person a question. `question` is its text. It may contain words of the conversation, so it is
    never logged."""

    call: int
    tool: str
    question: str


@dataclass(frozen=True, slots=True)
class WorkEnded(Signal):
    call: int
    tool: str
    outcome: Outcome
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class Waiting(Signal):
    """Feedback while the person waits for a tool or a delegated job. The stages are 0: working, 1: still working, 2:
    making progress, 3: taking longer than expected. `label` is in the person's language. `detail` is the newest
    progress report; it may contain words of the conversation. From stage 2 on, the signal is sent again with each
    progress report."""

    call: int
    stage: int
    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CueGiven(Signal):
    """A cue (a short sound or phrase that isn't part of an answer) was given, because the person waits or because an
    answer failed. `cue` is the meaning of the cue. `text` is what is said; empty if the cue is only a sound."""

    cue: str
    text: str


@dataclass(frozen=True, slots=True)
class WorkSilent(Signal):
    """A job has reported no progress for too long."""

    call: int


@dataclass(frozen=True, slots=True)
class Used(Signal):
    """A service was used, and its provider may charge for it. `part` is llm, stt or tts. `provider` and `model` are
    names from the configuration. `began_at` is the time at which the work began; 0 if it is unknown."""

    part: str
    provider: str
    model: str = ""
    began_at: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0  # part of the input tokens
    output_tokens: int = 0
    characters: int = 0
    heard_ms: int = 0  # sound that was sent to an STT
    spoken_ms: int = 0  # sound that came from a TTS


# -- Trouble


@dataclass(frozen=True, slots=True)
class Failed(Signal):
    """A fault is shown to the person. `hint` says what to do about the fault."""

    part: FaultSource
    error: ErrorClass
    fatal: bool
    hint: str


@dataclass(frozen=True, slots=True)
class Recovered(Signal):
    """A fault is no longer shown, or there was an attempt to restore a session. `success` is False if the session could
    not be restored. This signal doesn't mean that everything works again. The notice `recovered` means that; it comes
    with the next answer."""

    source: str
    success: bool = True


@dataclass(frozen=True, slots=True)
class Noticed(Signal):
    """A notice is shown to the person, such as `restored`. The notices are rows of `duologue.observe.notices`. `text`
    is the code of the notice's text. The notice `lost` isn't sent as this signal, but as the signal `Lost`."""

    code: str
    level: str  # info, warning or error
    text: str
    actions: tuple[str, ...] = ()
    fatal: bool = False
    part: str = ""  # the part that a fault is about


@dataclass(frozen=True, slots=True)
class Lost(Signal):
    """The turns `first` to `last` will get no answer, and the person is told so. `texts` contains the words of these
    turns."""

    first: int
    last: int
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commanded(Signal):
    """The program has interrupted or paused the conversation. `detail` is the program's reason, which may contain words
    of the conversation."""

    command: str  # interrupt or suspend
    detail: str


@dataclass(frozen=True, slots=True)
class Problem(Signal):
    """Something went wrong, but the conversation continues. `what` contains no words of the conversation."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Raised(Signal):
    """The traceback of a problem, without the exception's message. `error` is the class of the exception. `frames` are
    texts of the form "file:line function"; the innermost frame comes last."""

    where: str
    error: str
    frames: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentChanged(Signal):
    """Another agent has taken over the conversation."""

    name: str


@dataclass(frozen=True, slots=True)
class Ended(Signal):
    """The conversation is over. `reason` is "hung up", "goodbye", a fault with its error class, or a reason that the
    program gave. The program's reason is free text and may quote what was said. If `has_moved` is true, the
    conversation is over only for this process, and another process continues it."""

    reason: str
    has_moved: bool = False
