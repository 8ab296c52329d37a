"""The voice port: text becomes sound.

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
        """The sound of one sentence, piece by piece, each as soon as it is ready."""
        ...


class JoinsWords(Protocol):
    """A voice with this attribute set can speak a sentence in parts that sound as one, so that it begins after a few
    words. Other voices begin with a whole clause."""

    joins_words: bool


def joins_words(voice: object) -> bool:
    """Does this voice speak a sentence in parts that sound as one?"""
    return getattr(voice, "joins_words", False) is True
