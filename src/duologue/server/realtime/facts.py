"""Facts about the conversation that a client of the protocol is told of, as values.

A reply is an answer of the agent with a number, a voice is the sound of one reply with a number, and a turn is one of
the user. Rule: a fact says what has happened, and not what is sent about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class UserBegan:
    """The user speaks, and the agent has stopped. There is no such fact while the agent may still go on speaking."""

    turn: int


@dataclass(frozen=True, slots=True)
class UserEnded:
    """The user's turn is complete. With `typed`, the user typed it."""

    turn: int
    text: str
    typed: bool = False


@dataclass(frozen=True, slots=True)
class UserDropped:
    """The user's turn was only noise, or was overheard."""

    turn: int


@dataclass(frozen=True, slots=True)
class ReplyStarted:
    """The brain was asked for a reply."""

    reply: int


@dataclass(frozen=True, slots=True)
class ReplyWorded:
    """These are the words of the reply so far: those that are spoken, and those that are only shown."""

    reply: int
    spoken: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class TrackHeard:
    """Sound of the client's microphone came over WebRTC. It lasts `ms`."""

    pcm: bytes = field(repr=False)
    ms: int
    rate_hz: int


@dataclass(frozen=True, slots=True)
class TrackEnded:
    """A voice that went over WebRTC isn't heard any more. `is_cut` means that it was stopped before its end."""

    voice: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class SoundSent:
    """A piece of the reply's sound, as the client gets it. It lasts `ms`."""

    reply: int
    voice: int
    data: bytes = field(repr=False)
    ms: int = 0


@dataclass(frozen=True, slots=True)
class SoundComplete:
    """All sound of the voice was sent."""

    voice: int


@dataclass(frozen=True, slots=True)
class SoundCut:
    """The voice is stopped before its end, by the user or by the client."""

    voice: int
    by_client: bool = False


@dataclass(frozen=True, slots=True)
class SoundHeard:
    """So much of a voice that was cut counts as heard, and these are its words."""

    voice: int
    heard_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class ReplyDropped:
    """The reply is given up before anything of it was played."""

    reply: int
    by_client: bool = False


@dataclass(frozen=True, slots=True)
class ReplyComplete:
    """The reply has ended without sound: it was shown, or it has only called tools."""

    reply: int


@dataclass(frozen=True, slots=True)
class CallMade:
    """The brain calls a function of the client. `arguments` are JSON."""

    call: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The call needs no output any more."""

    call: int


@dataclass(frozen=True, slots=True)
class Rested:
    """The agent is silent: it owes no answer, prepares none and runs no tool."""


@dataclass(frozen=True, slots=True)
class FaultShown:
    """Something doesn't work, and the user is told."""

    part: str
    error: str


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """The brain's model has used these tokens."""

    input: int
    cached: int
    output: int


@dataclass(frozen=True, slots=True)
class AudioWritten:
    """The text of audio that the client committed itself. None if it couldn't be transcribed."""

    item_id: str
    text: str | None


@dataclass(frozen=True, slots=True)
class AskRefused:
    """The conversation refuses the input to which the client wanted an answer."""

    code: str
    message: str


Fact: TypeAlias = (
    UserBegan
    | UserEnded
    | UserDropped
    | ReplyStarted
    | ReplyWorded
    | TrackHeard
    | TrackEnded
    | SoundSent
    | SoundComplete
    | SoundCut
    | SoundHeard
    | ReplyDropped
    | ReplyComplete
    | CallMade
    | CallEnded
    | Rested
    | FaultShown
    | TokensUsed
    | AudioWritten
    | AskRefused
)
