"""What happens in the conversation and isn't among the facts of the Realtime protocol (`..realtime.facts`), as values.

Rule: a fact says what has happened, and not what is sent about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..realtime import facts as fa


@dataclass(frozen=True, slots=True)
class TalkBegan:
    """The conversation has begun: the user can speak."""


@dataclass(frozen=True, slots=True)
class PartialHeard:
    """These are the words of the user's turn so far."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class AgentSounded:
    """The sound of a reply begins."""

    voice: int


@dataclass(frozen=True, slots=True)
class AgentFellSilent:
    """The agent's sound has ended, however it ended."""


@dataclass(frozen=True, slots=True)
class PlayedSoFar:
    """So much of the reply's text was heard."""

    reply: int
    chars: int


@dataclass(frozen=True, slots=True)
class OwnCallBegan:
    """A tool call has begun that the client doesn't run, or that it has just been given."""

    call: int


@dataclass(frozen=True, slots=True)
class OwnCallEnded:
    """A tool call has ended."""

    call: int
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class AnswerMeasured:
    """The first sound of an answer was played: so long after the request came its first words, and so long after these
    the sound. None: it didn't happen."""

    brain_ms: int | None
    voice_ms: int | None


@dataclass(frozen=True, slots=True)
class CharactersUsed:
    """The voice was given so many characters."""

    count: int


@dataclass(frozen=True, slots=True)
class ProgramAnswered:
    """The agent's program answers a message of the client. With `why`, it doesn't."""

    id: str
    kind: str
    value: Any = field(repr=False, default=None)
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProgramSent:
    """The agent's program sends this to the client's."""

    data: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class InputRefused:
    """What the client has sent isn't taken. `id` is that of its message; empty for sound."""

    message: str
    id: str = ""


OwnFact: TypeAlias = (
    TalkBegan
    | PartialHeard
    | AgentSounded
    | AgentFellSilent
    | PlayedSoFar
    | OwnCallBegan
    | OwnCallEnded
    | AnswerMeasured
    | CharactersUsed
    | ProgramAnswered
    | ProgramSent
    | InputRefused
)
SharedFact: TypeAlias = (
    fa.UserBegan
    | fa.UserEnded
    | fa.UserDropped
    | fa.ReplyStarted
    | fa.ReplyWorded
    | fa.SoundCut
    | fa.SoundHeard
    | fa.ReplyDropped
    | fa.ReplyComplete
    | fa.Rested
    | fa.FaultShown
    | fa.TokensUsed
    | fa.CallMade
    | fa.CallEnded
)
RtviFact: TypeAlias = OwnFact | SharedFact
