"""A speech-to-speech model on a server that speaks the Realtime protocol: OpenAI's, Azure's, or any other.

The model is brain, ears (STT and VAD), voice (TTS) and session in one. `server_events`, `client_events`, `mirror` and
`utterances` only convert and record values, and never wait. `connection` and `exchange` do the waiting, and `model`
implements the interfaces that the runtime calls. Rule: the runtime decides when to speak. A response is requested only
when the runtime asks for it.
"""

from .model import RealtimeModel
from .settings import SESSION_MS_MAX, SESSION_WARNING_MS, RealtimeSettings

__all__ = ["SESSION_MS_MAX", "SESSION_WARNING_MS", "RealtimeModel", "RealtimeSettings"]
