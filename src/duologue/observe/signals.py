"""The signals on the bus: states entered and left, turns, captions, work, faults.

Signals are plain frozen values for screens, logs and programs. Rule: only fields that are documented as words
contain words, and such fields are never logged. All other fields are names, counts and times.
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
    """A view changed its state. `cause` names the event or timer that caused the change."""

    view: str
    source: str
    target: str
    cause: str


@dataclass(frozen=True, slots=True)
class StateEntered(Signal):
    """A view entered a state. `label` is the name of the state that people read, in their language."""

    view: str
    state: str
    label: str
    context: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimedOut(Signal):
    """A deadline of the machine passed."""

    timer: str
    call: int = 0


@dataclass(frozen=True, slots=True)
class HearingChanged(Signal):
    """Whether the person can be heard has changed."""

    hearing: HearingStatus


@dataclass(frozen=True, slots=True)
class AttentionChanged(Signal):
    """The person has come to the screen or left it."""

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
    """The agent's turn was cut short. `by` is the cause: "user", "button" (of the panel) or another source that was
    passed to `interrupt`, "line" (it was lost), "fault", or "end" (of the conversation)."""

    turn: TurnContext
    by: str = "user"


@dataclass(frozen=True, slots=True)
class TurnDropped(Signal):
    """A turn of the person gets no answer, because it was only noise, because it was overheard (for example, said over
    the agent), or because the conversation ended during the turn."""

    turn: TurnContext
    why: str  # noise, overheard or lost


@dataclass(frozen=True, slots=True)
class TurnLimited(Signal):
    """The person has talked for the longest time that a turn may take. The words so far are answered, and the rest is
    the next turn."""

    turn: int


@dataclass(frozen=True, slots=True)
class TurnAudioCommitted(Signal):
    """The audio of the person's turn was committed, so that its text is made. `audio_ms` is the length of this audio:
    from the start of the turn, or from the last commit in it, to now. A turn that goes on for long is committed in
    several pieces."""

    turn: int
    audio_ms: int


@dataclass(frozen=True, slots=True)
class Decided(Signal):
    """Turn-taking decided end_of_turn, asked_early, barge_in or resume, with its reasons and its confidence."""

    decision: str
    reasons: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Caption(Signal):
    """Words of either side as they are heard. `unheard` is text that hasn't been spoken yet or was cut off."""

    role: str
    text: str
    unheard: str = ""
    final: bool = False
    turn: int = 0
    reply: int = 0
    voice: int = 0


@dataclass(frozen=True, slots=True)
class ServiceSwitched(Signal):
    """The ears, the voice or the brain (`part`) uses another service. `why` is the class of a failure, or slow, or
    healthy if it returns to a service that it prefers."""

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
    """A worker reported progress. `text` contains words."""

    call: int
    tool: str
    text: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class WorkAsked(Signal):
    """A worker asks the person a question. `question` contains words."""

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
    """Feedback while the person waits for a tool or a delegated job. Stage 0: working, 1: still working, 2: making
    progress, 3: taking longer than expected. `label` is in the person's language. `detail` is the newest progress and
    contains words. From stage 2 on, the signal is sent again with each progress."""

    call: int
    stage: int
    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CueGiven(Signal):
    """The person hears a cue while they wait, or is told that an answer failed. `cue` is its meaning. `text` is what is
    said, or empty if the cue is only a sound."""

    cue: str
    text: str


@dataclass(frozen=True, slots=True)
class WorkSilent(Signal):
    """A job has shown no progress for too long."""

    call: int


@dataclass(frozen=True, slots=True)
class Used(Signal):
    """A service has used something that its provider may charge for. `part` is llm, stt or tts. `provider` and `model`
    are names of the configuration. The work began at `began_at`; 0 if that is unknown."""

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
    """A fault is no longer shown, or a session was restored. If `success` is False, the session could not be restored.
    Only the next answer, with the notice `recovered`, shows that everything works again."""

    source: str
    success: bool = True


@dataclass(frozen=True, slots=True)
class Noticed(Signal):
    """A notice for the person, such as `restored`: a row of `duologue.observe.notices`. `text` is the code of its text.
    The notice `lost` is the signal `Lost`."""

    code: str
    level: str  # info, warning or error
    text: str
    actions: tuple[str, ...] = ()
    fatal: bool = False
    part: str = ""  # the part that a fault is about


@dataclass(frozen=True, slots=True)
class Lost(Signal):
    """The turns `first` to `last` get no answer, and the person is told so. `texts` contains words."""

    first: int
    last: int
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commanded(Signal):
    """The program interrupted or paused the conversation. `detail` is the program's reason and may contain words."""

    command: str  # interrupt or suspend
    detail: str


@dataclass(frozen=True, slots=True)
class Problem(Signal):
    """Something went wrong that doesn't end the conversation. `what` contains no words of the conversation."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Raised(Signal):
    """The traceback of a problem, without the message of its exception. `error` is the class of the exception. `frames`
    are texts of the form "file:line function", the innermost last."""

    where: str
    error: str
    frames: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentChanged(Signal):
    """Another agent has taken over the conversation."""

    name: str


@dataclass(frozen=True, slots=True)
class Ended(Signal):
    """The conversation is over. `reason` is "hung up", "goodbye", a fault with its error class, or the
    program's own reason, which may contain words. If `has_moved` is set, it is over for this process only:
    another process continues it."""

    reason: str
    has_moved: bool = False
