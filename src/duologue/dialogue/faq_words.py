"""Finds the answer to a question in the FAQ by the words that both have.

It needs no model, so the dialogue uses it wherever a question is clear from its words alone; NLU searches the rest.
Rule: an answer is given only if most words agree and no other answer is nearly as good.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import log

from .english.carrier_words import FILLERS, POLITE
from .english.tokens import stem, tokens_of
from .flow import FaqEntry

SCORE_MIN = 0.7  # how much of the words has to agree, from 0 to 1
_LEAD_MIN = 0.1  # how much better the best answer has to be than the next one
_SMALL = (
    POLITE
    | FILLERS
    | frozenset(
        "a an the of to for in on at is are am be do does did i you your my me we our it that this and or".split()
    )
    | frozenset("can could would will may please tell know if there have has what's".split())
)


def answer_by_words(faq: tuple[FaqEntry, ...], text: str, score_min: float = SCORE_MIN) -> int | None:
    """The place of the entry that answers the text; None if there is no clear one."""
    said = _stems(text)
    if not faq or not said:
        return None
    weights = _weights(faq)
    scores = [max(_agreement(said, _stems(one), weights) for one in entry.questions) for entry in faq]
    best, *others = sorted(scores, reverse=True)
    if best < max(score_min, SCORE_MIN) or (others and best - others[0] < _LEAD_MIN):
        return None
    return scores.index(best)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(token.word) for token in tokens_of(text) if token.word not in _SMALL)


@lru_cache(maxsize=32)
def _weights(faq: tuple[FaqEntry, ...]) -> dict[str, float]:
    """How much a word tells: words of many entries tell little."""
    counted = Counter(word for entry in faq for word in frozenset().union(*map(_stems, entry.questions)))
    return {word: log(1 + len(faq) / count) for word, count in counted.items()}


def _agreement(said: frozenset[str], asked: frozenset[str], weights: dict[str, float]) -> float:
    """How much of the words of two texts agree, by weight. A word that no entry has weighs as much as a rare one."""
    rare = max(weights.values(), default=1.0)

    def weight(words: frozenset[str]) -> float:
        return sum(weights.get(word, rare) for word in words)

    whole = weight(said) + weight(asked)
    return 2 * weight(said & asked) / whole if whole else 0.0
