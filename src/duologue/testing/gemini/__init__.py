"""A Gemini Live server for tests. It follows a script, and rejects every message that the protocol doesn't allow."""

from duologue.testing.realtime.script import BreakDown, CallTool, FallSilent, Speak

from .server import GeminiServer

__all__ = ["BreakDown", "CallTool", "FallSilent", "GeminiServer", "Speak"]
