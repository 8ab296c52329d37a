"""Facts about the conversation, as values. RTVI clients are told of these in addition to the facts in
`..realtime.facts`.

Rule: a fact says what has happened, and not which messages are sent because of it.
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
    """The words that were recognized so far in the user's unfinished turn have changed."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class AgentSounded:
    """The sound of a reply begins."""

    voice: int


@dataclass(frozen=True, slots=True)
class AgentFellSilent:
    """The agent's sound has ended, either completely played or cut off."""


@dataclass(frozen=True, slots=True)
class PlayedSoFar:
    """The first `chars` characters of the reply's text were heard."""

    reply: int
    chars: int


@dataclass(frozen=True, slots=True)
class OwnCallBegan:
    """A tool call of the agent has begun: the agent runs the tool itself, or has just let the client run it."""

    call: int


@dataclass(frozen=True, slots=True)
class OwnCallEnded:
    """A tool call of the agent, which the agent or the client ran, has ended."""

    call: int
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class AnswerMeasured:
    """The first sound of an answer was played. `brain_ms` is the time from the request to the brain until its first
    words. `voice_ms` is the time from the first words to the sound. Either is None if that stage didn't happen."""

    brain_ms: int | None
    voice_ms: int | None


@dataclass(frozen=True, slots=True)
class CharactersUsed:
    """The voice (TTS) was given `count` characters to speak."""

    count: int


@dataclass(frozen=True, slots=True)
class ProgramAnswered:
    """The agent's program has answered a message from the client. If it couldn't answer, `why` is the reason."""

    id: str
    kind: str
    value: Any = field(repr=False, default=None)
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProgramSent:
    """The agent's program sends this message to the client's program."""

    data: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class InputRefused:
    """A message or sound from the client is refused. `id` is the id of the message; empty for sound."""

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
    | fa.SessionLost
    | fa.TokensUsed
    | fa.CallMade
    | fa.CallEnded
)
RtviFact: TypeAlias = OwnFact | SharedFact
