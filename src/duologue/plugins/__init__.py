"""The bridge to LiveKit's plugins: any `livekit-plugins-*` STT, TTS or LLM object as ears, voice or brain.

The plugins' package is imported when the first stream is opened: `pip install 'duologue[livekit]'`.
"""

from duologue.ports.usage import Usage

from .brain import PluginBrain
from .ears import PluginEars
from .voice import PluginVoice

__all__ = ["PluginBrain", "PluginEars", "PluginVoice", "Usage"]
