"""How sure to be: scores become probabilities.

Two questions are kept apart. Is any of the open intents meant at all? That is told by how high the best
score is and how near the nearest examples are. And if so, which? That is told by the scores alone. Rule:
the numbers here are fitted by `tools/fit_nlu.py` on examples that the scores had not learned from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .understanding import GUESSES_MAX, Guess, Understanding

IN_SCOPE_MIN = 0.5


@dataclass(frozen=True, slots=True)
class Scores:
    """How well each intent fits; how alike the message and the most similar phrases of the best are; and how
    many phrases an intent has on average."""

    each: Sequence[float]
    near: float
    phrases: float

    @property
    def best(self) -> int:
        return max(range(len(self.each)), key=self.each.__getitem__)


@dataclass(frozen=True, slots=True)
class Certainty:
    """What scores are worth. The best score means something else with more intents, and with more phrases."""

    start: float
    size: float
    phrases: float
    score: float
    score_size: float
    near: float
    heat: float
    """Scores are divided by this."""

    def in_scope(self, scores: Scores) -> float:
        """How likely it is that any of the intents is meant."""
        size = math.log(len(scores.each))
        slope = self.score + self.score_size * size
        odds = self.start + self.size * size + self.phrases * math.log(scores.phrases)
        odds += slope * scores.each[scores.best] + self.near * scores.near
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))

    def understanding(self, names: Sequence[str], scores: Scores, by: str) -> Understanding:
        """The same, in words."""
        highest = scores.each[scores.best]
        odds = [math.exp((each - highest) / self.heat) for each in scores.each]
        total, in_scope = sum(odds), self.in_scope(scores)
        ranked = sorted(range(len(names)), key=lambda at: (-odds[at], names[at]))[:GUESSES_MAX]
        guesses = tuple(Guess(names[at], in_scope * odds[at] / total) for at in ranked)
        return Understanding(guesses, in_scope >= IN_SCOPE_MIN, in_scope, by=by)


DEEP = Certainty(start=0.486, size=-1.946, phrases=-1.675, score=0.984, score_size=-0.035, near=7.367, heat=0.75)
WORDS = Certainty(start=-0.141, size=-0.718, phrases=-1.249, score=1.445, score_size=-0.275, near=18.695, heat=0.35)
PLAIN = WORDS
