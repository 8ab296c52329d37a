"""Finds the FAQ entry that answers a question, by the words that the question and the entry have in common.

This search needs no model, so the dialogue tries it first. If it finds no answer, NLU may search the FAQ. Rule: an
answer is given only if most words of the question and the entry are the same, and no other entry is nearly as good.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import log

from .flow import FaqEntry
from .language.pack import LanguageWords
from .language.packs import pack_of

SCORE_MIN = 0.7  # how much of the words has to agree, from 0 to 1
_PRICE = "price"  # stands for all words that ask for the price
_LEAD_MIN = 0.1  # how much better the best answer has to be than the next one


def answer_by_words(
    faq: tuple[FaqEntry, ...], text: str, score_min: float = SCORE_MIN, language: str = "en", topic: str = ""
) -> int | None:
    """The index of the FAQ entry that answers the text; None if no entry clearly answers it. `topic` holds words for
    what is talked about at the moment. They complete a question that doesn't name its topic, such as "how much is
    it?"."""
    words = pack_of(language).words
    said = _stems(text, words)
    if not faq or not said:
        return None
    weights, near = _weights(faq, language), _stems(topic, words)
    scores = [max(_agreement(said, _stems(one, words), weights, near) for one in entry.questions) for entry in faq]
    best, *others = sorted(scores, reverse=True)
    if best < max(score_min, SCORE_MIN) or (others and best - others[0] < _LEAD_MIN):
        return None
    return scores.index(best)


def _stems(text: str, words: LanguageWords) -> frozenset[str]:
    """The words that tell what the text is about, without their endings. All words that ask for a price ("cost", "fee")
    are treated as the same word."""
    told = [token.word for token in words.tokens_of(text) if token.word not in words.around_topics]
    return frozenset(_PRICE if word in words.price_words else words.stem(word) for word in told)


@lru_cache(maxsize=32)
def _weights(faq: tuple[FaqEntry, ...], language: str) -> dict[str, float]:
    """The weight of each word in the FAQ: the more entries contain the word, the smaller its weight."""
    words = pack_of(language).words
    asked = [frozenset().union(*(_stems(one, words) for one in entry.questions)) for entry in faq]
    counted = Counter(word for stems in asked for word in stems)
    return {word: log(1 + len(faq) / count) for word, count in counted.items()}


def _agreement(
    said: frozenset[str], asked: frozenset[str], weights: dict[str, float], near: frozenset[str] = frozenset()
) -> float:
    """How similar a message is to a question of the FAQ, from 0 to 1: the weight of the words that both contain,
    relative to the weight of all their words. A word that no FAQ entry contains has the weight of the rarest word.
    `near` holds words of the topic of the conversation. If the FAQ question contains every word of the message, the
    words in `near` are treated as if the user had said them too."""
    rare = max(weights.values(), default=1.0)
    said = said | (near & asked) if said <= asked else said

    def weight(words: frozenset[str]) -> float:
        return sum(weights.get(word, rare) for word in words)

    whole = weight(said) + weight(asked)
    return 2 * weight(said & asked) / whole if whole else 0.0
