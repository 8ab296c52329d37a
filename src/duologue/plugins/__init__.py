"""The bridge to LiveKit's plugins: the STT, LLM and TTS objects of any `livekit-plugins-*` package can be used as ears,
brain and voice.

LiveKit's package is imported only when the first stream is opened. Install it with `pip install 'duologue[livekit]'`.
"""

from duologue.ports.usage import Usage

from .brain import PluginBrain
from .ears import PluginEars
from .voice import PluginVoice

__all__ = ["PluginBrain", "PluginEars", "PluginVoice", "Usage"]
