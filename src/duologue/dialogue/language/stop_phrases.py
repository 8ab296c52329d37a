"""Phrases with which users stop the agent before they say something else: "hold on, what does that cost?", "one sec,
how long …".

Rule: such a phrase means nothing by itself. The words after it are read as if the message began with them.
"""

from __future__ import annotations

from collections.abc import Sequence

Phrase = tuple[str, ...]


def after_stop(words: Sequence[str], phrases: Sequence[Phrase], around: frozenset[str]) -> int:
    """The index of the first word after phrases such as "hold on" at the beginning of a message, and after words in
    `around` that stand next to these phrases. 0 if the message doesn't begin with such a phrase, or if nothing follows
    it."""
    place, has_stop = 0, False
    while place < len(words):
        word = words[place]
        begun = [one for one in phrases if one[0] == word]
        size = next((len(one) for one in begun if tuple(words[place : place + len(one)]) == one), 0)
        if not size and word not in around:
            break
        has_stop = has_stop or size > 0
        place += size or 1
    return place if has_stop and place < len(words) else 0
