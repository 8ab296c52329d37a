"""Calibration: turns scores into probabilities.

Two questions are answered separately. First: is any of the possible intents meant at all? This depends on the best
score, and on how similar the message is to the nearest examples. Second, if one is meant: which of them? This depends
only on the scores. Rule: the numbers here are fitted by `tools/fit_nlu.py` on examples that weren't used for training.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .understanding import GUESSES_MAX, Guess, Understanding

IN_SCOPE_MIN = 0.5
NEAREST = 3  # similarity is the mean over this many nearest phrases
USUAL = 0.5  # assumed as the usual similarity if no intent has two phrases


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a message. `each` has the score of every intent. `near` is the similarity of the message to the
    nearest phrases of the best intent. `usual` says how similar the phrases of one intent usually are in this scope
    (the set of intents that are possible at a turn)."""

    each: Sequence[float]
    near: float
    usual: float

    @property
    def best(self) -> int:
        """The index of the intent with the highest score."""
        return max(range(len(self.each)), key=self.each.__getitem__)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted numbers that turn scores into probabilities. In a scope with many intents, similarity has less weight,
    because almost any message is similar to some phrase in such a scope."""

    start: float
    size: float
    score: float
    near: float
    near_size: float
    usual: float
    temperature: float
    """Scores are divided by this number before they become probabilities."""

    def in_scope(self, scores: Scores) -> float:
        """The probability that any of the intents is meant."""
        size = math.log(len(scores.each))
        near = max(0.0, self.near + self.near_size * size)
        odds = self.start + self.size * size + self.score * scores.each[scores.best]
        odds += near * scores.near + self.usual * scores.usual
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))

    def understanding(self, names: Sequence[str], scores: Scores, by: str) -> Understanding:
        """Turn the scores into ranked guesses with probabilities, and decide whether the message is in scope (whether
        any of the intents is meant). `names` has the name of each intent, in the same order as `scores.each`."""
        highest = scores.each[scores.best]
        odds = [math.exp((each - highest) / self.temperature) for each in scores.each]
        total, in_scope = sum(odds), self.in_scope(scores)
        ranked = sorted(range(len(names)), key=lambda at: (-odds[at], names[at]))[:GUESSES_MAX]
        guesses = tuple(Guess(names[at], in_scope * odds[at] / total) for at in ranked)
        return Understanding(guesses, in_scope >= IN_SCOPE_MIN, in_scope, by=by)


MINILM = Calibration(
    start=-0.397, size=0.136, score=0.727, near=16.221, near_size=-3.404, usual=-11.449, temperature=0.75
)
MINILM_AND_E5 = Calibration(
    start=-0.357, size=0.078, score=0.498, near=16.093, near_size=-3.515, usual=-11.4, temperature=1.25
)
WORDS = Calibration(
    start=-1.604, size=0.209, score=1.367, near=25.398, near_size=-6.365, usual=-9.121, temperature=0.35
)
WORDS_WITHOUT_NUMPY = Calibration(
    start=-1.535, size=0.229, score=1.936, near=27.017, near_size=-10.029, usual=-9.23, temperature=0.3
)
