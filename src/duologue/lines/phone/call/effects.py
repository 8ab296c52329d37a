"""The effects of a telephone call: values that tell the server what to do.

Rule: an effect that asks the carrier for something carries a request number. The input that reports the carrier's
answer carries the same number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .state import CallEnd


@dataclass(frozen=True, slots=True)
class PlaceCall:
    """Ask the carrier to call the number that the program wants to reach."""

    request: int


@dataclass(frozen=True, slots=True)
class CancelCall:
    """Ask the carrier to stop calling the number, because the call isn't wanted any more."""


@dataclass(frozen=True, slots=True)
class ScreenAnswer:
    """Listen to the first sound of the call, and report whether a person, an answering machine or a beep is heard."""


@dataclass(frozen=True, slots=True)
class StartTalk:
    """Start the agent's conversation."""


@dataclass(frozen=True, slots=True)
class StartMessage:
    """Speak the message to the answering machine, then end the call."""


@dataclass(frozen=True, slots=True)
class StartMusic:
    """Pause the conversation, and play music."""


@dataclass(frozen=True, slots=True)
class StopMusic:
    """Stop the music, and continue the conversation."""


@dataclass(frozen=True, slots=True)
class PassOn:
    """Ask the carrier to connect the call to another number. The agent leaves the call."""

    request: int


@dataclass(frozen=True, slots=True)
class CallTaker:
    """Ask the carrier to call the person to whom the call will be transferred."""

    request: int


@dataclass(frozen=True, slots=True)
class JoinTaker:
    """Ask the carrier to connect the caller with the person to whom the call is transferred."""

    request: int


@dataclass(frozen=True, slots=True)
class DropTaker:
    """End the second call, to the person who should have taken over the caller."""


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
