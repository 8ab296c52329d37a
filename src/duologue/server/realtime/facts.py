"""The facts about a conversation that clients of the protocol are told of, as values.

Replies (the agent's answers), voices (the sound of one reply) and turns (of the user) are numbered. Facts refer to them
by these numbers. Rule: a fact says what has happened, and not which events are sent because of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class UserBegan:
    """The user speaks, and no sound of the agent is playing or paused. While the agent's sound is only paused, this
    isn't reported, because the sound may still continue."""

    turn: int


@dataclass(frozen=True, slots=True)
class UserEnded:
    """The user's turn is complete. `typed` says whether the user typed it."""

    turn: int
    text: str
    typed: bool = False


@dataclass(frozen=True, slots=True)
class UserDropped:
    """The user's turn is dropped, because it was only noise or wasn't meant for the agent."""

    turn: int


@dataclass(frozen=True, slots=True)
class ReplyStarted:
    """The brain was asked for a reply. `answers` is False if the reply answers no turn, because the agent speaks by
    itself, such as for a greeting or a check-in."""

    reply: int
    answers: bool = True


@dataclass(frozen=True, slots=True)
class ReplyWorded:
    """The words of the reply so far. `spoken` is the text that is spoken, and `shown` is text that is only shown."""

    reply: int
    spoken: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class TrackHeard:
    """A piece of sound from the client's microphone, `ms` milliseconds long, came over WebRTC."""

    pcm: bytes = field(repr=False)
    ms: int
    rate_hz: int


@dataclass(frozen=True, slots=True)
class TrackEnded:
    """The sound of a reply that was sent over WebRTC has ended at the client. `is_cut` says whether it was stopped
    before its end."""

    voice: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class SoundSent:
    """A piece of a reply's sound, `ms` milliseconds long, was sent to the client."""

    reply: int
    voice: int
    data: bytes = field(repr=False)
    ms: int = 0


@dataclass(frozen=True, slots=True)
class SoundComplete:
    """All sound of a reply was sent. `voice` is the number of that sound."""

    voice: int


@dataclass(frozen=True, slots=True)
class SoundCut:
    """The sound of a reply is stopped before its end, because the user interrupts, or because the client asks for it
    (`by_client`)."""

    voice: int
    by_client: bool = False


@dataclass(frozen=True, slots=True)
class SoundHeard:
    """The sound of a reply was cut off. `heard_ms` milliseconds of it count as heard, which contain the words
    `text`."""

    voice: int
    heard_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class ReplyDropped:
    """The reply is dropped before any of its sound was played."""

    reply: int
    by_client: bool = False


@dataclass(frozen=True, slots=True)
class ReplyComplete:
    """The reply is complete. Clients of the Realtime protocol are told this only about a reply without sound: a reply
    that was only shown, or one that has only called tools."""

    reply: int


@dataclass(frozen=True, slots=True)
class CallMade:
    """The brain calls a function that the client runs. `arguments` is JSON text."""

    call: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The tool call is over. It either has its output, or doesn't need an output any more."""

    call: int


@dataclass(frozen=True, slots=True)
class Rested:
    """The agent has become silent, and nothing more is to come: it owes the user no answer, prepares no reply and runs
    no tool."""


@dataclass(frozen=True, slots=True)
class FaultShown:
    """A part of the conversation, such as the brain or the voice, has failed, and the user is told so."""

    part: str
    error: str


@dataclass(frozen=True, slots=True)
class SessionLost:
    """The session between the agent and its service is lost. A new one is being opened, and the conversation then goes
    on."""


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """The brain's model has used these tokens."""

    input: int
    cached: int
    output: int


@dataclass(frozen=True, slots=True)
class AudioWritten:
    """The audio that the client committed, `ms` milliseconds long, was transcribed. `text` is None if that failed."""

    item_id: str
    text: str | None
    ms: int = 0


@dataclass(frozen=True, slots=True)
class AskRefused:
    """The client asked for a response to an input, but the conversation has refused the input."""

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
    | SessionLost
    | TokensUsed
    | AudioWritten
    | AskRefused
)
