"""A Realtime server on a local port that follows a script and rejects every event that the protocol does not allow."""

from .script import BreakDown, CallTool, FallSilent, ProtocolFault, Speak, WriteText
from .server import RealtimeServer

__all__ = ["BreakDown", "CallTool", "FallSilent", "ProtocolFault", "RealtimeServer", "Speak", "WriteText"]
