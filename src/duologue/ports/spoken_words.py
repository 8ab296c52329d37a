"""Which words of a turn are new to a service that already has some of them.

A turn may grow after a service got its text, and the STT (speech-to-text) may rewrite earlier words. Rule: words are
counted, never compared. So every service that continues a turn agrees on where its new words begin.
"""

from __future__ import annotations


def count_words(text: str) -> int:
    """How many words this text has. A service stores this number instead of the text."""
    return len(text.split())


def new_words(text: str, known: int) -> str:
    """The words of a text after its first `known` words."""
    return " ".join(text.split()[known:]) if known else text
