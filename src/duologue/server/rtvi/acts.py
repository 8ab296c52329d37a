"""What the translation wants done: messages to send, and commands to the conversation, as values.

Rule: acts are done in order, and what doing them brings comes after all acts of this step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class SendToClient:
    """Send this message. With `is_stamped`, its data gets the time."""

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
    """This is what the user says: answer it. `id` is that of the message it came with."""

    text: str = field(repr=False)
    id: str = ""


@dataclass(frozen=True, slots=True)
class AddToHistory:
    """The brain is to know from its next request on that this was said."""

    text: str = field(repr=False)
    is_agents: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True)
class SpeakReplies:
    """From the next reply on, the agent speaks, or its words are only shown."""

    is_on: bool


@dataclass(frozen=True, slots=True)
class AskProgram:
    """Let the agent's program answer this message of the client."""

    id: str
    kind: str
    data: Any = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class ReturnResult:
    """The client has this result of a call."""

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
