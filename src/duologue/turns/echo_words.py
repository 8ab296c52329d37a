"""Decides by its words whether a text is the agent's own voice, heard through the microphone.

The text is compared with what the agent is saying. Rule: a single word is never an echo, because people answer with
the agent's words. Two or more words are an echo if the agent says them in the same order.
"""

from __future__ import annotations

from .words import words_of

WORDS_MIN = 2


def is_echo(heard: str, spoken: str) -> bool:
    """Do all words of the heard text occur in the same order, without gaps, in what the agent is saying?"""
    mine, theirs = words_of(heard), words_of(spoken)
    if len(mine) < WORDS_MIN or len(mine) > len(theirs):
        return False
    return any(theirs[start : start + len(mine)] == mine for start in range(len(theirs) - len(mine) + 1))
