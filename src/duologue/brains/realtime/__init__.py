"""A speech-to-speech model behind the Realtime protocol: OpenAI's, Azure's, or any server that speaks it.

It is brain, ears, voice and session at once. `server_events`, `client_events`, `mirror` and `utterances`
are tables and plain functions over values; `connection` and `exchange` do the waiting; `model` implements
the ports. Rule: the runtime decides when to speak; a response is only ever requested for the runtime.
"""

from .model import RealtimeModel
from .settings import SESSION_MS_MAX, SESSION_WARNING_MS, RealtimeSettings

__all__ = ["SESSION_MS_MAX", "SESSION_WARNING_MS", "RealtimeModel", "RealtimeSettings"]
