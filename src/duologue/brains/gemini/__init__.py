"""A speech-to-speech model on a server that speaks Google's Live protocol (BidiGenerateContent).

The model thinks and speaks. The ears (VAD and STT) run on this computer and decide when the user speaks and when a turn
is over. `generation` and `speech_floor` are state machines, each written as a table. `server_messages`,
`client_messages` and `server_copy` only convert and record values. `live_session` and `model` do the waiting. Rule: the
runtime decides when to speak. An answer is requested only when the runtime asks for it.
"""

from .model import GeminiLive
from .settings import GeminiSettings

__all__ = ["GeminiLive", "GeminiSettings"]
