"""Finds the answer to a question in the FAQ by the words that both have.

It needs no model, so the dialogue uses it wherever a question is clear from its words alone; NLU searches the rest.
Rule: an answer is given only if most words agree and no other answer is nearly as good.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import log

from .flow import FaqEntry
from .language.pack import LanguageWords
from .language.packs import pack_of

SCORE_MIN = 0.7  # how much of the words has to agree, from 0 to 1
_LEAD_MIN = 0.1  # how much better the best answer has to be than the next one


def answer_by_words(
    faq: tuple[FaqEntry, ...], text: str, score_min: float = SCORE_MIN, language: str = "en"
) -> int | None:
    """The place of the entry that answers the text; None if there is no clear one."""
    words = pack_of(language).words
    said = _stems(text, words)
    if not faq or not said:
        return None
    weights = _weights(faq, language)
    scores = [max(_agreement(said, _stems(one, words), weights) for one in entry.questions) for entry in faq]
    best, *others = sorted(scores, reverse=True)
    if best < max(score_min, SCORE_MIN) or (others and best - others[0] < _LEAD_MIN):
        return None
    return scores.index(best)


def _stems(text: str, words: LanguageWords) -> frozenset[str]:
    return frozenset(words.stem(token.word) for token in words.tokens_of(text) if token.word not in words.around_topics)


@lru_cache(maxsize=32)
def _weights(faq: tuple[FaqEntry, ...], language: str) -> dict[str, float]:
    """How much a word tells: words of many entries tell little."""
    words = pack_of(language).words
    asked = [frozenset().union(*(_stems(one, words) for one in entry.questions)) for entry in faq]
    counted = Counter(word for stems in asked for word in stems)
    return {word: log(1 + len(faq) / count) for word, count in counted.items()}


def _agreement(said: frozenset[str], asked: frozenset[str], weights: dict[str, float]) -> float:
    """How much of the words of two texts agree, by weight. A word that no entry has weighs as much as a rare one."""
    rare = max(weights.values(), default=1.0)

    def weight(words: frozenset[str]) -> float:
        return sum(weights.get(word, rare) for word in words)

    whole = weight(said) + weight(asked)
    return 2 * weight(said & asked) / whole if whole else 0.0
