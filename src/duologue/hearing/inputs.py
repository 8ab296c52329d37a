"""The inputs of the hearing machine. Each input is a fact with the time at which it was observed, in whole
milliseconds.

Rule: an input is a value that can be written to the ear journal. The only exception is CoreStepped, because a replay
makes it from the journal of events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from duologue.core.step_record import StepRecord
from duologue.ports.ears import Heard
from duologue.turns.completeness import Completeness
from duologue.turns.own_speech import SpokenWord


@dataclass(frozen=True, slots=True)
class Reported:
    """The ears (STT and VAD) have made this report."""

    at: int
    heard: Heard


@dataclass(frozen=True, slots=True)
class EarsStopped:
    """The ears stopped listening. When they start again, they count utterances from 1."""

    at: int


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """The user pressed push-to-talk."""

    at: int


@dataclass(frozen=True, slots=True)
class ButtonReleased:
    """The user released push-to-talk."""

    at: int


@dataclass(frozen=True, slots=True)
class Typed:
    """The user typed a whole turn. `is_blind` means that the user sees no captions, for example because the text was
    typed with the keys of a telephone."""

    at: int
    text: str
    is_blind: bool = False


class QuestionSpan(NamedTuple):
    """The position of the last question in the agent's speech, in milliseconds from the start of the speech."""

    start_ms: int
    end_ms: int
    values_ms: int = 0  # the end of the last value in it, such as a name: the user must hear this before answering


@dataclass(frozen=True, slots=True)
class AgentSpoke:
    """The agent's current speech has changed. `words` are all of its words, with their times from the beginning of the
    speech."""

    at: int
    words: tuple[SpokenWord, ...] = ()
    question: QuestionSpan | None = None


@dataclass(frozen=True, slots=True)
class AgentAsks:
    """The brain asks a question in this reply. Whether the question was heard is known only later. `calls` are the jobs
    that want to know something from the user, as far as the brain knows. `is_aside` means that the agent asks this
    question by itself, such as "Are you still there?"; the earlier question of the brain then stays open."""

    at: int
    reply: int
    calls: tuple[int, ...] = ()
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class HeardLate:
    """A report that arrived after the line was lost says that this reply was heard."""

    at: int
    reply: int


@dataclass(frozen=True, slots=True)
class TextJudged:
    """The brain has judged whether the words of a turn are a complete answer or request. `gist` is the id of the words
    that were judged."""

    at: int
    turn: int
    gist: int
    completeness: Completeness


@dataclass(frozen=True, slots=True)
class CoreStepped:
    """The conversation machine made a step."""

    at: int
    record: StepRecord


@dataclass(frozen=True, slots=True)
class Woke:
    """A due time of the hearing machine has passed."""

    at: int


Input: TypeAlias = (
    Reported
    | EarsStopped
    | ButtonPressed
    | ButtonReleased
    | Typed
    | AgentSpoke
    | AgentAsks
    | HeardLate
    | TextJudged
    | CoreStepped
    | Woke
)
