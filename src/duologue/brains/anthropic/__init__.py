"""A brain backed by Anthropic's Messages API."""

from .brain import AnthropicBrain

__all__ = ["AnthropicBrain"]
