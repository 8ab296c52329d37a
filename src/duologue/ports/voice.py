"""The voice port: text becomes sound.

Rule: a voice may be closed between any two pieces; it then stops at once and frees what it holds.
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
