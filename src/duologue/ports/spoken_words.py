"""Finds the new words of a turn, for a service that has already got the beginning of the turn.

A turn may grow after a service got its text, and the STT (speech-to-text) may rewrite earlier words. Rule: words are
counted, never compared. So all services agree on where the new words of a turn begin.
"""

from __future__ import annotations


def count_words(text: str) -> int:
    """How many words this text has. A service stores this number instead of the text."""
    return len(text.split())


def new_words(text: str, known: int) -> str:
    """The words of a text after its first `known` words."""
    return " ".join(text.split()[known:]) if known else text
