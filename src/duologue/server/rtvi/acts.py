"""What the translation wants done: messages to send, and commands to the conversation, as values.

Rule: acts are performed in order. Facts that result from an act are processed after all acts of this step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class SendToClient:
    """Send this message. With `is_stamped`, the time is added to its data."""

    type: str
    data: Any = None
    id: str = ""
    is_stamped: bool = False


@dataclass(frozen=True, slots=True)
class BeginTalk:
    """Start the conversation."""


@dataclass(frozen=True, slots=True)
class EndTalk:
    """End the conversation."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Disconnect the client, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class DropHeldSound:
    """Tell the client to drop the sound that it hasn't played, if what carries the protocol can say so."""


@dataclass(frozen=True, slots=True)
class TypeForUser:
    """Pass this text on as a turn of the user, to be answered. `id` is that of the client's message."""

    text: str = field(repr=False)
    id: str = ""


@dataclass(frozen=True, slots=True)
class AddToHistory:
    """Add this text to the history that the brain gets from its next request on."""

    text: str = field(repr=False)
    is_agents: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True)
class SpeakReplies:
    """From the next reply on, speak the agent's words, or only show them."""

    is_on: bool


@dataclass(frozen=True, slots=True)
class AskProgram:
    """Let the agent's program answer this message of the client."""

    id: str
    kind: str
    data: Any = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class ReturnResult:
    """Complete a function call with this result of the client."""

    call: int
    result: str = field(repr=False)


RtviAct: TypeAlias = (
    SendToClient
    | BeginTalk
    | EndTalk
    | Disconnect
    | DropHeldSound
    | TypeForUser
    | AddToHistory
    | SpeakReplies
    | AskProgram
    | ReturnResult
)
