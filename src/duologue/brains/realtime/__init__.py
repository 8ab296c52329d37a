"""A speech-to-speech model behind the Realtime protocol: OpenAI's, Azure's, or any server that speaks it.

Brain, ears, voice and session at once. What a server event means and which client events a wish needs are
tables and plain functions (`happened`, `client_events`, `mirror`, `utterances`); `connection` and `exchange`
await; `model` fits it all to the ports. Rule: the runtime decides when to speak; the server is never asked
for a response but by a request of the runtime.
"""

from .model import RealtimeModel
from .settings import SESSION_MS_MAX, SESSION_WARNING_MS, RealtimeSettings

__all__ = ["SESSION_MS_MAX", "SESSION_WARNING_MS", "RealtimeModel", "RealtimeSettings"]
