"""The intents of the playback state machine: what the line of a client has to do next.

Rule: in one step, everything for the client comes before the reports to the conversation. A report may make the
conversation stop the voice at once, and no sound may be sent after that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from duologue.ports.line import LineEvent


class PlayCommand(Enum):
    """A playback command to a client."""

    BEGIN = "begin"  # the next chunk is the sound from this time of the voice on
    HOLD = "hold"
    RESUME = "resume"
    CLEAR = "clear"
    FINISH = "finish"  # no more sound follows


@dataclass(frozen=True, slots=True)
class SendSound:
    """Send the samples from `start` up to `end` of an utterance of the agent, as the chunk with this number."""

    voice: int
    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SendCommand:
    """Send a playback command."""

    command: PlayCommand
    voice: int
    ms: int = 0


@dataclass(frozen=True, slots=True)
class DropQueued:
    """Remove the sound of an utterance of the agent from the queue of this socket, so that it isn't sent."""

    client: int
    voice: int


@dataclass(frozen=True, slots=True)
class StartWaiting:
    """Start the timer that posts `WaitingEnded` if no client comes."""


@dataclass(frozen=True, slots=True)
class StopWaiting:
    """Cancel the timer of `StartWaiting`."""


@dataclass(frozen=True, slots=True)
class FinishOpening:
    """The line is open: a client is connected."""


@dataclass(frozen=True, slots=True)
class CancelOpening:
    """The line won't open: let the method `open`, which is waiting for a client, fail."""


@dataclass(frozen=True, slots=True)
class ReportNow:
    """Report this event to the conversation."""

    event: LineEvent


@dataclass(frozen=True, slots=True)
class ReportSoon:
    """Report this event a moment later. The conversation has just called a method of the line, and that method must
    return first."""

    event: LineEvent


PlaybackIntent: TypeAlias = (
    SendSound
    | SendCommand
    | DropQueued
    | StartWaiting
    | StopWaiting
    | FinishOpening
    | CancelOpening
    | ReportNow
    | ReportSoon
)
REPORTS = (ReportNow, ReportSoon)
