"""Is what was heard the agent's own voice, come back through the microphone? (V-02)

Compares words with what the agent is saying. Rule: one word proves nothing, since people answer with
the agent's words; two and more in the same order are an echo.
"""

from __future__ import annotations

from .words import words_of

WORDS_MIN = 2


def is_echo(heard: str, spoken: str) -> bool:
    """Do all these words stand together in what the agent is saying?"""
    mine, theirs = words_of(heard), words_of(spoken)
    if len(mine) < WORDS_MIN or len(mine) > len(theirs):
        return False
    return any(theirs[start : start + len(mine)] == mine for start in range(len(theirs) - len(mine) + 1))
