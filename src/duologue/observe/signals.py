"""What the bus carries: states entered and left, turns, captions, work, faults (L-21, C-INT-003).

Plain frozen values for screens, logs and programs. Rule: only those that say so hold words, and those
are never logged; the others hold names, counts and times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from duologue.core.leaves import ErrorClass, FaultSource, Outcome


@dataclass(frozen=True, slots=True)
class Signal:
    """Something to know; `at` is in milliseconds since the conversation was made."""

    at: int


# -- States of a view


@dataclass(frozen=True, slots=True)
class StateExited(Signal):
    view: str
    state: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Transitioned(Signal):
    """One move of a view, with the event that caused it (C-REQ-010)."""

    view: str
    source: str
    target: str
    cause: str


@dataclass(frozen=True, slots=True)
class StateEntered(Signal):
    """`label` is what people read, in their language (C-INT-003)."""

    view: str
    state: str
    label: str
    context: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimedOut(Signal):
    """A deadline of the machine passed."""

    timer: str
    call: int = 0


# -- Turns. The context is 001's turn context; `transcript` in it holds words.


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
    """The agent was cut short: by the person, because the line went, or by what `interrupt` was told."""

    turn: TurnContext
    by: str = "user"  # or line, or the source of a command


@dataclass(frozen=True, slots=True)
class TurnDropped(Signal):
    """A turn of the person that gets no answer of its own: a noise, or words that were overheard."""

    turn: TurnContext
    why: str  # noise or overheard


@dataclass(frozen=True, slots=True)
class Decided(Signal):
    """Turn-taking has decided: end_of_turn, barge_in or resume, for these reasons, and how sure it is."""

    decision: str
    reasons: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Caption(Signal):
    """Words of either side as they are heard. `unheard` is still to come, or was cut off."""

    role: str
    text: str
    unheard: str = ""
    final: bool = False
    turn: int = 0
    reply: int = 0
    voice: int = 0


# -- Work


@dataclass(frozen=True, slots=True)
class WorkStarted(Signal):
    call: int
    tool: str
    mode: str


@dataclass(frozen=True, slots=True)
class WorkProgressed(Signal):
    """A worker's sign of life; `text` holds words."""

    call: int
    tool: str
    text: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class WorkAsked(Signal):
    """A worker asks the person something; `question` holds words."""

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
    """Feedback while the person waits (L-10): stage 0 working, 1 still working, 2 making progress,
    3 taking longer than expected. `label` is localised; `detail` is the newest progress."""

    call: int
    stage: int
    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class WorkSilent(Signal):
    """No sign of life for too long."""

    call: int


# -- Trouble


@dataclass(frozen=True, slots=True)
class Failed(Signal):
    """A fault that the person is shown, with what to do about it."""

    part: FaultSource
    error: ErrorClass
    fatal: bool
    hint: str


@dataclass(frozen=True, slots=True)
class Recovered(Signal):
    """A fault is over, or a session was restored."""

    source: str
    success: bool = True


@dataclass(frozen=True, slots=True)
class Lost(Signal):
    """The person is told that this got no answer; `texts` holds words."""

    first: int
    last: int
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commanded(Signal):
    """The program has asked for something, and says from where or why."""

    command: str  # interrupt or suspend
    detail: str


@dataclass(frozen=True, slots=True)
class Problem(Signal):
    """Something went wrong beside the conversation; it goes on. `what` holds no words of anybody."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Ended(Signal):
    """The conversation is over: hung up, goodbye, a fault with its class, or what the program gave."""

    reason: str
