"""A client of a served agent, for programs: connect, start, send sound and text, receive sound, captions and state.

It speaks the panel's protocol (docs/protocol.md) over a WebSocket: `pip install 'duologue[client]'`. It reconnects by
itself and goes on with the same conversation.
"""

from .client import Client
from .failures import ClientFailed, ConnectionFailed, NoAnswerHeard
from .happenings import (
    CaptionChanged,
    ConnectionChanged,
    Happening,
    NoticeShown,
    PhaseChanged,
    TalkOpened,
    TalkOver,
    VoiceArrived,
)
from .messages import ServerSaid, VoiceChunk
from .protocol_socket import ProtocolSocket

__all__ = [
    "CaptionChanged",
    "Client",
    "ClientFailed",
    "ConnectionChanged",
    "ConnectionFailed",
    "Happening",
    "NoAnswerHeard",
    "NoticeShown",
    "PhaseChanged",
    "ProtocolSocket",
    "ServerSaid",
    "TalkOpened",
    "TalkOver",
    "VoiceArrived",
    "VoiceChunk",
]
