"""Duologue: a runtime for voice agents whose conversations never get stuck.

The machine is here at once; the runtime around it is imported when it is first asked for.
"""

from typing import TYPE_CHECKING, Any

from duologue.core.machine import MACHINE, step
from duologue.core.settings import PROFILES, Settings, profile
from duologue.core.state import State, initial, next_deadline

if TYPE_CHECKING:
    from duologue.brains.chat.brain import ChatBrain
    from duologue.brains.realtime import RealtimeModel, RealtimeSettings
    from duologue.observe import signals
    from duologue.ports.brain import Request, Show
    from duologue.ports.failure import ServiceError
    from duologue.ports.sound import Sound, Word
    from duologue.ports.tool_call import ToolCall
    from duologue.ports.worker import Job
    from duologue.runtime.agent import Agent, Phrases
    from duologue.runtime.conversation import Conversation
    from duologue.workers.function_tools import tool
    from duologue.workers.mcp import McpServer

__version__ = "0.1.0"

_LATER = {
    "Agent": "duologue.runtime.agent",
    "ChatBrain": "duologue.brains.chat",
    "McpServer": "duologue.workers.mcp",
    "ToolCall": "duologue.ports.tool_call",
    "Conversation": "duologue.runtime.conversation",
    "Job": "duologue.ports.worker",
    "Phrases": "duologue.runtime.agent",
    "RealtimeModel": "duologue.brains.realtime",
    "RealtimeSettings": "duologue.brains.realtime",
    "Request": "duologue.ports.brain",
    "ServiceError": "duologue.ports.failure",
    "Show": "duologue.ports.brain",
    "Sound": "duologue.ports.sound",
    "Word": "duologue.ports.sound",
    "tool": "duologue.workers.function_tools",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER and name != "signals":
        raise AttributeError(f"module 'duologue' has no attribute {name!r}")
    from importlib import import_module

    if name == "signals":
        return import_module("duologue.observe.signals")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value


__all__ = [
    "MACHINE",
    "PROFILES",
    "Agent",
    "ChatBrain",
    "Conversation",
    "Job",
    "McpServer",
    "Phrases",
    "RealtimeModel",
    "RealtimeSettings",
    "Request",
    "ServiceError",
    "Settings",
    "Show",
    "Sound",
    "State",
    "ToolCall",
    "Word",
    "initial",
    "next_deadline",
    "profile",
    "signals",
    "step",
    "tool",
]
