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
NEAREST = 3  # phrases that nearness is the mean of
USUAL = 0.5  # where no intent has two phrases


@dataclass(frozen=True, slots=True)
class Scores:
    """How well each intent fits; how alike the message and the nearest phrases of the best one are; and how alike
    phrases of one intent usually are in this scope."""

    each: Sequence[float]
    near: float
    usual: float

    @property
    def best(self) -> int:
        return max(range(len(self.each)), key=self.each.__getitem__)


@dataclass(frozen=True, slots=True)
class Certainty:
    """What scores are worth. With many intents nearness says less: something is always near."""

    start: float
    size: float
    score: float
    near: float
    near_size: float
    usual: float
    heat: float
    """Scores are divided by this."""

    def in_scope(self, scores: Scores) -> float:
        """How likely it is that any of the intents is meant."""
        size = math.log(len(scores.each))
        near = max(0.0, self.near + self.near_size * size)
        odds = self.start + self.size * size + self.score * scores.each[scores.best]
        odds += near * scores.near + self.usual * scores.usual
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))

    def understanding(self, names: Sequence[str], scores: Scores, by: str) -> Understanding:
        """The same, in words."""
        highest = scores.each[scores.best]
        odds = [math.exp((each - highest) / self.heat) for each in scores.each]
        total, in_scope = sum(odds), self.in_scope(scores)
        ranked = sorted(range(len(names)), key=lambda at: (-odds[at], names[at]))[:GUESSES_MAX]
        guesses = tuple(Guess(names[at], in_scope * odds[at] / total) for at in ranked)
        return Understanding(guesses, in_scope >= IN_SCOPE_MIN, in_scope, by=by)


DEEP = Certainty(start=-0.397, size=0.136, score=0.727, near=16.221, near_size=-3.404, usual=-11.449, heat=0.75)
DEEPER = Certainty(start=-0.357, size=0.078, score=0.498, near=16.093, near_size=-3.515, usual=-11.4, heat=1.25)
WORDS = Certainty(start=-1.604, size=0.209, score=1.367, near=25.398, near_size=-6.365, usual=-9.121, heat=0.35)
PLAIN = Certainty(start=-1.535, size=0.229, score=1.936, near=27.017, near_size=-10.029, usual=-9.23, heat=0.3)
