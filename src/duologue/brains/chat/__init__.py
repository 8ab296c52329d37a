"""A brain backed by a chat-completions service: OpenAI's, or any server that speaks its protocol."""

from .brain import ChatBrain

__all__ = ["ChatBrain"]
