"""Brains produce the agent's replies: a chat-completions LLM, a Realtime model, a plain function, or a script.

A brain's third-party packages are imported only when that brain is used.
"""

from .chat.brain import ChatBrain

__all__ = ["ChatBrain"]
