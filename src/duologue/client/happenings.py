"""What a client reports to its program, as values.

Rule: every message from the server is passed on. A message that has no type of its own in this module is passed on as
`ServerSaid`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .messages import VOICE, ServerSaid, VoiceChunk

OVER = ("refused", "lost", "closed")  # phases of a connection after which the client doesn't connect again


@dataclass(frozen=True, slots=True)
class ConnectionChanged:
    """The connection has changed. `phase` is open, waiting, refused, lost or closed. After refused, lost or closed, the
    client doesn't connect again by itself."""

    phase: str
    code: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TalkOpened:
    """A conversation has begun. If `is_resumed` is true, an earlier conversation continues after a lost connection."""

    conversation: str
    is_resumed: bool


@dataclass(frozen=True, slots=True)
class TalkOver:
    """The conversation is over."""

    reason: str


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """The phase of the conversation has changed, for example to listening, thinking or speaking. `label` is the name of
    the phase in the client's language."""

    phase: str
    previous: str
    label: str


@dataclass(frozen=True, slots=True)
class CaptionChanged:
    """A line of the conversation. It replaces an earlier line with the same role and number. In a line of the agent,
    `text` is what was heard, and `unheard` is the rest. If `is_final` is true, the rest was cut off and won't be
    heard."""

    role: str  # user or assistant
    text: str
    unheard: str
    is_final: bool
    number: int  # of the user's turn, or of the agent's reply


@dataclass(frozen=True, slots=True)
class NoticeShown:
    """A notice for the user, about a problem or something new."""

    level: str  # info, warning or error
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class VoiceArrived:
    """Sound of the agent: 16-bit mono PCM at 24 kHz. It arrives about a second before it is played."""

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
    """Turn a frame from the server into the happening that is reported to the program."""
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
