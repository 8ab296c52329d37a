"""Brains answer requests: a chat-completions LLM, a Realtime model, a plain function, a script.

A brain's third-party packages are imported only when that brain is used.
"""

from .chat.brain import ChatBrain

__all__ = ["ChatBrain"]
