"""Understanding messages: one protocol, an embedded implementation, and one that asks a language model.

Importing this loads nothing else: numpy and the model are loaded when they are first used.
"""

from .cached import CachedNlu
from .llm import LlmNlu
from .local import LocalNlu
from .understanding import ExpectedSlot, Guess, Intent, MessageScope, Nlu, Quote, Understanding

__all__ = [
    "CachedNlu",
    "ExpectedSlot",
    "Guess",
    "Intent",
    "LlmNlu",
    "LocalNlu",
    "MessageScope",
    "Nlu",
    "Quote",
    "Understanding",
]
