"""A client for programs that talk to an agent on a server. It connects, starts a conversation, sends sound and text,
and receives sound, captions and states.

The client speaks the same protocol as the panel (docs/protocol.md), over a WebSocket: `pip install 'duologue[client]'`.
If the connection is lost, the client reconnects by itself and continues the same conversation.
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
