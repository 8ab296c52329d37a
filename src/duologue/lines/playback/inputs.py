"""The inputs of the playback state machine: what can happen on the line of a client.

A voice is the sound of one utterance of the agent, with a number. Amounts of sound are counted in samples. Reports from
a client are in milliseconds. Rule: an input about the current voice contains the number of that voice. An input with
another number is late, and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Position(NamedTuple):
    """A client's playback position: how many milliseconds of a voice (utterance of the agent) it has played, and the
    number of the last chunk that it received."""

    voice: int
    ms: int
    chunk: int


# -- What the conversation does with its voice


@dataclass(frozen=True, slots=True)
class VoiceBegan:
    """A new voice (the sound of one utterance) begins, and replaces the voice before it."""

    voice: int


@dataclass(frozen=True, slots=True)
class SoundAdded:
    """`samples` more samples of the agent's utterance can be sent."""

    voice: int
    samples: int


@dataclass(frozen=True, slots=True)
class SoundEnded:
    """The sound of the agent's utterance is complete with these last `samples` samples."""

    voice: int
    samples: int


@dataclass(frozen=True, slots=True)
class HoldAsked:
    """The agent's utterance must pause now."""

    voice: int


@dataclass(frozen=True, slots=True)
class ResumeAsked:
    """The agent's utterance may continue at the point where it was held."""

    voice: int


@dataclass(frozen=True, slots=True)
class ClearAsked:
    """The agent's utterance must stop now, and the rest of its sound is dropped."""

    voice: int


# -- What the client reports


@dataclass(frozen=True, slots=True)
class PlayedReported:
    """The client has played `ms` milliseconds of an utterance of the agent."""

    voice: int
    ms: int


@dataclass(frozen=True, slots=True)
class FinishedReported:
    """The client has played an utterance of the agent to its end, which is `ms` milliseconds."""

    voice: int
    ms: int


@dataclass(frozen=True, slots=True)
class StoppedReported:
    """The client has obeyed the command `clear`, and stopped an utterance of the agent after `ms` milliseconds."""

    voice: int
    ms: int


@dataclass(frozen=True, slots=True)
class UnplayableReported:
    """The client can't play an utterance of the agent."""

    voice: int


# -- Clients come and go


@dataclass(frozen=True, slots=True)
class ClientConnected:
    """A client has connected. `client` is the number of its socket. If the client was connected before, `position` says
    how much it has played."""

    client: int
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class ClientDisconnected:
    """The socket with this number is gone."""

    client: int


@dataclass(frozen=True, slots=True)
class WaitingEnded:
    """The time to wait for a client is over, and no client has connected."""


@dataclass(frozen=True, slots=True)
class OpeningBegan:
    """The conversation begins to open the line."""


@dataclass(frozen=True, slots=True)
class LineClosed:
    """The conversation closes the line."""


PlaybackInput: TypeAlias = (
    VoiceBegan
    | SoundAdded
    | SoundEnded
    | HoldAsked
    | ResumeAsked
    | ClearAsked
    | PlayedReported
    | FinishedReported
    | StoppedReported
    | UnplayableReported
    | ClientConnected
    | ClientDisconnected
    | WaitingEnded
    | OpeningBegan
    | LineClosed
)
