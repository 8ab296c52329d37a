"""Natural-language understanding (NLU): the interface of every NLU, an implementation that runs on this computer, and
an implementation that calls an LLM.

Importing this package is cheap, because numpy and the models are loaded only when they are first used.
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
