"""What the translation wants done: events to send, and commands to the conversation, as values.

Rule: acts are performed in order. Facts that result from an act are processed after all acts of this step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .fields import JsonObject
from .session_config import SessionConfig


@dataclass(frozen=True, slots=True)
class Send:
    """Send this event. `voice` is set for sound: it is dropped from the queue if that voice is cut."""

    event: JsonObject
    voice: int = 0


@dataclass(frozen=True, slots=True)
class UseConfig:
    """From the next request on, the agent answers as this says: instructions, tools, end of turns, sound or text."""

    config: SessionConfig


@dataclass(frozen=True, slots=True)
class PassSound:
    """Pass this sound on to the ears."""

    pcm: bytes = field(repr=False)
    rate_hz: int = 24_000


@dataclass(frozen=True, slots=True)
class KeepSound:
    """Keep this sound until the client commits or clears it."""

    pcm: bytes = field(repr=False)
    rate_hz: int = 24_000


@dataclass(frozen=True, slots=True)
class DropSound:
    """Forget the sound that was kept."""


@dataclass(frozen=True, slots=True)
class Transcribe:
    """Transcribe the sound that was kept, and forget the sound."""

    item_id: str


@dataclass(frozen=True, slots=True)
class SendTurn:
    """End the user's turn now."""


@dataclass(frozen=True, slots=True)
class TypeText:
    """Pass this text on as a turn of the user, to be answered."""

    text: str


@dataclass(frozen=True, slots=True)
class SpeakNow:
    """Let the agent speak although the user has said nothing."""


@dataclass(frozen=True, slots=True)
class GiveOutputs:
    """Pass on these outputs of tool calls. Each comes with the number of its call."""

    outputs: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop the agent."""


@dataclass(frozen=True, slots=True)
class StopPlayer:
    """Tell the player that the client has stopped this voice after `heard_ms` milliseconds."""

    voice: int
    heard_ms: int


Act: TypeAlias = (
    Send
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
