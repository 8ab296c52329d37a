"""What a client tells its program, as values.

Rule: every message of the server is passed on. Messages for which there is no other type here are passed on as
`ServerSaid`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .messages import VOICE, ServerSaid, VoiceChunk

OVER = ("refused", "lost", "closed")  # phases of a connection after which the client doesn't connect again


@dataclass(frozen=True, slots=True)
class ConnectionChanged:
    """`phase` is open, waiting, refused, lost or closed. After refused, lost or closed, the client doesn't connect
    again."""

    phase: str
    code: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TalkOpened:
    """A conversation has begun, or goes on after a lost connection (`is_resumed`)."""

    conversation: str
    is_resumed: bool


@dataclass(frozen=True, slots=True)
class TalkOver:
    """The conversation is over."""

    reason: str


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """The phase of the conversation has changed: listening, thinking, speaking … `label` is its name in the client's
    language."""

    phase: str
    previous: str
    label: str


@dataclass(frozen=True, slots=True)
class CaptionChanged:
    """A line of the conversation. A later line with the same role and number replaces it. For the agent, `text` was
    heard and `unheard` wasn't yet; once `is_final`, `unheard` was cut off."""

    role: str  # user or assistant
    text: str
    unheard: str
    is_final: bool
    number: int  # of the user's turn, or of the agent's reply


@dataclass(frozen=True, slots=True)
class NoticeShown:
    """A problem or news, for the user."""

    level: str  # info, warning or error
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class VoiceArrived:
    """Sound of the agent: 16-bit mono PCM at 24 kHz, about a second ahead of what was played."""

    voice: int
    chunk: int
    pcm: bytes


Happening: TypeAlias = (
    ConnectionChanged
    | TalkOpened
    | TalkOver
    | PhaseChanged
    | CaptionChanged
    | NoticeShown
    | VoiceArrived
    | VoiceChunk
    | ServerSaid
)


def happening(received: ServerSaid | VoiceChunk) -> Happening:
    """The happening that this frame means for a program."""
    if isinstance(received, VoiceChunk):
        is_voice = received.kind == VOICE
        return VoiceArrived(received.number, received.chunk, received.pcm) if is_voice else received
    given = received.payload
    match received.kind:
        case "conversation":
            return TalkOpened(given["conversation"], bool(given.get("resumed")))
        case "ended":
            return TalkOver(given.get("reason", ""))
        case "state":
            return PhaseChanged(given["phase"], given.get("previousPhase") or "", given.get("localizedLabel", ""))
        case "caption":
            number = given["turn"] if given["role"] == "user" else given["reply"]
            return CaptionChanged(given["role"], given["text"], given.get("unheard", ""), given["final"], number)
        case "notification":
            return NoticeShown(given["level"], given["code"], given["message"])
    return received
