"""Duologue: a runtime for voice agents whose conversations never get stuck.

This module exports the names that an agent needs. A name is imported when it is first used, so `import duologue` is
fast and needs only the standard library. The pure conversation machine is in `duologue.core`, the test kit in
`duologue.testing`.
"""

import os
from typing import TYPE_CHECKING, Any

# onnxruntime writes an id of this device to disk and looks up a host of its manufacturer, unless this is set before the
# library is imported. It is set here, because a plugin of another project may be the first that imports the library.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

if TYPE_CHECKING:
    from duologue.brains.anthropic import AnthropicBrain
    from duologue.brains.chat import ChatBrain
    from duologue.brains.gemini import GeminiLive, GeminiSettings
    from duologue.brains.realtime import RealtimeModel, RealtimeSettings
    from duologue.core.errors import DuologueError
    from duologue.core.settings import PROFILES, Settings, profile
    from duologue.ears.deepgram import DeepgramEars
    from duologue.ears.local import LocalEars
    from duologue.failover import Fallback, HealthRule
    from duologue.flows import load_flows
    from duologue.flows.brain import FlowBrain
    from duologue.flows.find_functions import find_functions
    from duologue.nlu.llm import LlmNlu
    from duologue.nlu.local import LocalNlu
    from duologue.observe import signals
    from duologue.plugins import PluginBrain, PluginEars, PluginVoice
    from duologue.ports.brain import Firm, LastWords, OpenQuestion, Request, Show, Working
    from duologue.ports.context import CallInfo, Context, NotPossible, TransferFailed
    from duologue.ports.failure import ServiceError
    from duologue.ports.history import AgentSaid, CallOutput, UserSaid
    from duologue.ports.sound import Sound, Word
    from duologue.ports.tool_call import ToolCall
    from duologue.ports.worker import Job
    from duologue.runtime.agent import Agent, Phrases
    from duologue.runtime.conversation import Conversation
    from duologue.runtime.hooks import Hooks
    from duologue.server.tickets import make_ticket
    from duologue.spoken.forms import Pronunciation
    from duologue.voice.cartesia import CartesiaVoice
    from duologue.voice.endpoint import SpeechEndpointVoice
    from duologue.voice.espeak import EspeakVoice
    from duologue.voice.local import LocalVoice
    from duologue.voice.neural import NeuralVoice
    from duologue.voice.pico import PicoVoice
    from duologue.voice.sounds import Sounds
    from duologue.workers.client_tools import client_tool
    from duologue.workers.function_tools import tool
    from duologue.workers.hand_over import hand_over_to
    from duologue.workers.hang_up import hang_up
    from duologue.workers.mcp import McpServer
    from duologue.workers.phone_tools import press_keys, transfer_to

__version__ = "0.2.0"

_MODULES = {
    "Agent": "duologue.runtime.agent",
    "AgentSaid": "duologue.ports.history",
    "AnthropicBrain": "duologue.brains.anthropic",
    "CallInfo": "duologue.ports.context",
    "CallOutput": "duologue.ports.history",
    "CartesiaVoice": "duologue.voice.cartesia",
    "ChatBrain": "duologue.brains.chat",
    "Context": "duologue.ports.context",
    "Conversation": "duologue.runtime.conversation",
    "DeepgramEars": "duologue.ears.deepgram",
    "DuologueError": "duologue.core.errors",
    "EspeakVoice": "duologue.voice.espeak",
    "Fallback": "duologue.failover",
    "Firm": "duologue.ports.brain",
    "FlowBrain": "duologue.flows.brain",
    "GeminiLive": "duologue.brains.gemini",
    "GeminiSettings": "duologue.brains.gemini",
    "HealthRule": "duologue.failover",
    "Hooks": "duologue.runtime.hooks",
    "Job": "duologue.ports.worker",
    "LastWords": "duologue.ports.brain",
    "LlmNlu": "duologue.nlu.llm",
    "LocalEars": "duologue.ears.local",
    "LocalNlu": "duologue.nlu.local",
    "LocalVoice": "duologue.voice.local",
    "McpServer": "duologue.workers.mcp",
    "NeuralVoice": "duologue.voice.neural",
    "NotPossible": "duologue.ports.context",
    "OpenQuestion": "duologue.ports.brain",
    "PROFILES": "duologue.core.settings",
    "Phrases": "duologue.runtime.agent",
    "PicoVoice": "duologue.voice.pico",
    "PluginBrain": "duologue.plugins",
    "PluginEars": "duologue.plugins",
    "PluginVoice": "duologue.plugins",
    "Pronunciation": "duologue.spoken.forms",
    "RealtimeModel": "duologue.brains.realtime",
    "RealtimeSettings": "duologue.brains.realtime",
    "Request": "duologue.ports.brain",
    "ServiceError": "duologue.ports.failure",
    "Settings": "duologue.core.settings",
    "Show": "duologue.ports.brain",
    "Sound": "duologue.ports.sound",
    "Sounds": "duologue.voice.sounds",
    "SpeechEndpointVoice": "duologue.voice.endpoint",
    "ToolCall": "duologue.ports.tool_call",
    "TransferFailed": "duologue.ports.context",
    "UserSaid": "duologue.ports.history",
    "Word": "duologue.ports.sound",
    "Working": "duologue.ports.brain",
    "client_tool": "duologue.workers.client_tools",
    "find_functions": "duologue.flows.find_functions",
    "hand_over_to": "duologue.workers.hand_over",
    "hang_up": "duologue.workers.hang_up",
    "press_keys": "duologue.workers.phone_tools",
    "transfer_to": "duologue.workers.phone_tools",
    "load_flows": "duologue.flows",
    "make_ticket": "duologue.server.tickets",
    "profile": "duologue.core.settings",
    "tool": "duologue.workers.function_tools",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "signals":
        return import_module("duologue.observe.signals")
    if name not in _MODULES:
        raise AttributeError(f"module 'duologue' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "PROFILES",
    "Agent",
    "AgentSaid",
    "AnthropicBrain",
    "CallInfo",
    "CallOutput",
    "CartesiaVoice",
    "ChatBrain",
    "Context",
    "Conversation",
    "DeepgramEars",
    "DuologueError",
    "EspeakVoice",
    "Fallback",
    "Firm",
    "FlowBrain",
    "GeminiLive",
    "GeminiSettings",
    "HealthRule",
    "Hooks",
    "Job",
    "LastWords",
    "LlmNlu",
    "LocalEars",
    "LocalNlu",
    "LocalVoice",
    "McpServer",
    "NeuralVoice",
    "NotPossible",
    "OpenQuestion",
    "Phrases",
    "PicoVoice",
    "PluginBrain",
    "PluginEars",
    "PluginVoice",
    "Pronunciation",
    "RealtimeModel",
    "RealtimeSettings",
    "Request",
    "ServiceError",
    "Settings",
    "Show",
    "Sound",
    "Sounds",
    "SpeechEndpointVoice",
    "ToolCall",
    "TransferFailed",
    "UserSaid",
    "Word",
    "Working",
    "__version__",
    "client_tool",
    "find_functions",
    "hand_over_to",
    "hang_up",
    "load_flows",
    "make_ticket",
    "press_keys",
    "profile",
    "signals",
    "tool",
    "transfer_to",
]
