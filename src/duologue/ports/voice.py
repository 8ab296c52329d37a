"""The voice port: a voice (TTS) turns text into sound.

Rule: the stream of a voice may be closed between any two pieces. The voice then stops immediately and frees its
resources.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from .sound import Sound


class Voice(Protocol):
    """Speaks one sentence after another."""

    def speak(self, text: str) -> AsyncIterator[Sound]:
        """Yield the sound of one sentence, each piece as soon as it is ready."""
        ...


def joins_words(voice: object) -> bool:
    """Can this voice speak a sentence in several parts that sound like one sentence? It can if its attribute
    `joins_words` is True. Such a voice can begin after a few words; other voices begin when a whole clause is known."""
    return getattr(voice, "joins_words", False) is True
