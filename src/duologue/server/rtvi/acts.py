"""The acts that the translation returns, as values: messages to send to the client, and commands to the conversation.

Rule: the acts of a step are performed in order. If an act causes new facts, these are processed after all acts of the
step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class SendToClient:
    """Send this message. If `is_stamped` is True, the current time is added to its data."""

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
    """Tell the client to drop the sound that it hasn't played yet. This has an effect only on a WebSocket."""


@dataclass(frozen=True, slots=True)
class TypeForUser:
    """Pass this text on to the agent as a turn of the user. The agent answers it. `id` is the id of the client's
    message."""

    text: str = field(repr=False)
    id: str = ""


@dataclass(frozen=True, slots=True)
class AddToHistory:
    """Add this text to the history. The brain gets it with its next request."""

    text: str = field(repr=False)
    is_agents: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True)
class SpeakReplies:
    """From the next reply on, either speak the agent's words or only show them."""

    is_on: bool


@dataclass(frozen=True, slots=True)
class AskProgram:
    """Let the agent's program answer this message from the client."""

    id: str
    kind: str
    data: Any = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class ReturnResult:
    """Complete a function call with this result from the client."""

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
