"""The acts that the translation returns, as values: events to send to the client, and commands to the conversation.

Rule: the acts of a step are performed in order. If an act causes new facts, these are processed after all acts of the
step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .fields import JsonObject
from .session_config import SessionConfig


@dataclass(frozen=True, slots=True)
class Send:
    """Send this event. If the event contains sound, `voice` is the number of the reply's sound to which it belongs. If
    that sound is cut off, the event is removed from the queue."""

    event: JsonObject
    voice: int = 0


@dataclass(frozen=True, slots=True)
class SendLimits:
    """Send `rate_limits.updated` with this event id. The limits themselves aren't in this act: the call fills them in,
    because only it knows them."""

    event_id: str


@dataclass(frozen=True, slots=True)
class UseConfig:
    """From the next request on, the agent uses this configuration. It contains the instructions, the tools, the policy
    for the end of turns, and whether the agent answers with sound or text."""

    config: SessionConfig


@dataclass(frozen=True, slots=True)
class PassSound:
    """Pass this sound from the client on to the agent's ears."""

    pcm: bytes = field(repr=False)
    rate_hz: int = 24_000


@dataclass(frozen=True, slots=True)
class KeepSound:
    """Keep this sound until the client commits or clears it."""

    pcm: bytes = field(repr=False)
    rate_hz: int = 24_000


@dataclass(frozen=True, slots=True)
class DropSound:
    """Drop the sound that was kept."""


@dataclass(frozen=True, slots=True)
class Transcribe:
    """Transcribe the sound that was kept, then drop it."""

    item_id: str


@dataclass(frozen=True, slots=True)
class SendTurn:
    """End the user's turn now."""


@dataclass(frozen=True, slots=True)
class TypeText:
    """Pass this text on to the agent as a turn of the user. The agent answers it."""

    text: str


@dataclass(frozen=True, slots=True)
class SpeakNow:
    """Let the agent speak although the user has said nothing."""


@dataclass(frozen=True, slots=True)
class GiveOutputs:
    """Pass these outputs of tool calls on to the conversation. Each is a pair: the number of the tool call, and its
    output."""

    outputs: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Interrupt the agent, so that it stops speaking."""


@dataclass(frozen=True, slots=True)
class StopPlayer:
    """Tell the player that the client has stopped this voice (the sound of one reply) after playing `heard_ms`
    milliseconds of it."""

    voice: int
    heard_ms: int


Act: TypeAlias = (
    Send
    | SendLimits
    | UseConfig
    | PassSound
    | KeepSound
    | DropSound
    | Transcribe
    | SendTurn
    | TypeText
    | SpeakNow
    | GiveOutputs
    | Interrupt
    | StopPlayer
)
