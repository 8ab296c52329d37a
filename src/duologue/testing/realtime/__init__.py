"""A Realtime server for tests. It follows a script, and rejects every event that the protocol doesn't allow."""

from .script import BreakDown, CallTool, FallSilent, ProtocolFault, Speak, WriteText
from .server import RealtimeServer

__all__ = ["BreakDown", "CallTool", "FallSilent", "ProtocolFault", "RealtimeServer", "Speak", "WriteText"]
