"""Understanding messages: one protocol, an embedded implementation, and one that asks a language model.

Importing this loads nothing else: numpy and the model are loaded when they are first used.
"""

from .cached import CachedNlu
from .llm import LlmNlu
from .local import LocalNlu
from .understanding import Guess, Intent, Nlu, Quote, Scope, Slot, Understanding

__all__ = [
    "CachedNlu",
    "Guess",
    "Intent",
    "LlmNlu",
    "LocalNlu",
    "Nlu",
    "Quote",
    "Scope",
    "Slot",
    "Understanding",
]
