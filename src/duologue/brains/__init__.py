"""Brains: what answers a request. Each is one file that needs what it talks to, and nothing else does."""

from .chat.brain import ChatBrain

__all__ = ["ChatBrain"]
