"""Greetings at the beginning of a message: "good morning", "oh hello, good evening dear".

Rule: a greeting gives no value. The "morning" in "good morning, I have some shirts" isn't read as a part of the day.
"""

from __future__ import annotations

from collections.abc import Sequence

from .stop_phrases import Phrase, after_stop
from .tokens import Token, words_of


def without_greeting(tokens: Sequence[Token], greetings: Sequence[Phrase], around: frozenset[str]) -> Sequence[Token]:
    """The tokens after a greeting; all tokens, if the message doesn't begin with a greeting, or is nothing else. Words
    in `around`, such as "hello", may stand next to the greeting."""
    words = words_of(tokens)
    if not any(words[at : at + len(one)] == one for one in greetings for at in range(len(words))):
        return tokens
    return tokens[after_stop(words, greetings, around) :]
