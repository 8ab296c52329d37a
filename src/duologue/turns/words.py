"""Counts words, in the same way everywhere in Duologue.

A substantial word is neither a filler nor a backchannel, so it may interrupt the agent. Rule: the count depends on the
text alone, not on the STT or the time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Thai, Lao, Burmese, Khmer, Japanese and Chinese have no spaces, so every two characters count as a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_LETTERS = rf"[^\W_{_UNSPACED}]+"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|{_LETTERS}(?:['’.-]{_LETTERS})*")  # noqa: RUF001 - both apostrophes occur

FILLERS = frozenset("uh uhh um umm er erm eh ah aah oh ooh hm hmm hmmm mm mmm mhm mm-hmm uh-huh huh ha".split())
BACKCHANNELS = frozenset("yeah yep yup yes ok okay right sure alright aha".split())
_PHRASES = (("got", "it"), ("i", "see"), ("of", "course"), ("all", "right"), ("uh", "huh"), ("mm", "hmm"))
_PASSING = FILLERS | BACKCHANNELS


class Count(NamedTuple):
    """The number of words in a text."""

    words: int
    substantial: int


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def count(text: str) -> Count:
    """How many words a text has, and how many of them are substantial."""
    words = words_of(text)
    passing = {
        place
        for first, second in _PHRASES
        for place in range(len(words) - 1)
        if words[place] == first and words[place + 1] == second
    }
    passing |= {place + 1 for place in passing}
    return Count(len(words), sum(_is_substantial(w) and at not in passing for at, w in enumerate(words)))


def _is_substantial(word: str) -> bool:
    """Is this word neither a filler, a backchannel, nor a single letter? A single letter, except "a" and "i", is noise
    that the STT spelled out."""
    is_letter = len(word) == 1 and "b" <= word <= "z" and word != "i"
    return word not in _PASSING and not is_letter
