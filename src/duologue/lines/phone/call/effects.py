"""The effects of a telephone call: values that tell the server what to do.

Rule: an effect that asks the carrier for something carries the number of the request, which its answer repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .state import CallEnd


@dataclass(frozen=True, slots=True)
class PlaceCall:
    """Ask the carrier to call the number."""

    request: int


@dataclass(frozen=True, slots=True)
class CancelCall:
    """Ask the carrier to stop calling the number."""


@dataclass(frozen=True, slots=True)
class ScreenAnswer:
    """Listen to the first sound, and report a person, a machine or a beep."""


@dataclass(frozen=True, slots=True)
class StartTalk:
    """Start the agent's conversation."""


@dataclass(frozen=True, slots=True)
class StartMessage:
    """Speak the message to the machine, then end."""


@dataclass(frozen=True, slots=True)
class StartMusic:
    """Pause the conversation, and play music."""


@dataclass(frozen=True, slots=True)
class StopMusic:
    """Stop the music, and continue the conversation."""


@dataclass(frozen=True, slots=True)
class PassOn:
    """Ask the carrier to connect the call to another number, without the agent."""

    request: int


@dataclass(frozen=True, slots=True)
class CallTaker:
    """Ask the carrier to call the person who takes over."""

    request: int


@dataclass(frozen=True, slots=True)
class JoinTaker:
    """Ask the carrier to connect the call with the person who takes over."""

    request: int


@dataclass(frozen=True, slots=True)
class DropTaker:
    """End the call to the person who should have taken over."""


@dataclass(frozen=True, slots=True)
class TellTransfer:
    """Tell the program how its transfer ended."""

    outcome: CallEnd


@dataclass(frozen=True, slots=True)
class EndCall:
    """End the call."""


@dataclass(frozen=True, slots=True)
class TellEnd:
    """Tell the program how the call ended."""

    outcome: CallEnd


CallEffect: TypeAlias = (
    PlaceCall
    | CancelCall
    | ScreenAnswer
    | StartTalk
    | StartMessage
    | StartMusic
    | StopMusic
    | PassOn
    | CallTaker
    | JoinTaker
    | DropTaker
    | TellTransfer
    | EndCall
    | TellEnd
)
