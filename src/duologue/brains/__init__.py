"""Brains: what answers a request. Each is one file that needs what it talks to, and nothing else does."""

from .chat import ChatBrain

__all__ = ["ChatBrain"]
