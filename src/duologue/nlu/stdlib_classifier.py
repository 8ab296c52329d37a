"""Classifies messages within a scope without numpy: n-grams and a regression, in the standard library only.

A scope is the set of intents that are possible at a turn. The regression starts from the mean vector of each intent and
is improved by a few passes over the phrases. Rule: learning never takes long, because the number of passes is smaller
if a scope has more intents and phrases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .calibration import NEAREST, USUAL, Scores
from .ngrams import Grams, Sparse

START = 8.0  # the scale of the initial means
RATE = 2.0
ROUNDS_MAX = 8
ROUNDS_MIN = 2
WORK_MAX = 10_000_000  # multiplications, which take one or two seconds; ROUNDS_MIN may exceed this
_UNMOVED = 1e-3  # a class with a smaller error isn't updated

Weights = dict[int, list[float]]


class PlainScope:
    """A scope that was learned from words alone, without numpy."""

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None:
        self._intents = len(phrases)
        self._grams = Grams(text for each in phrases for text in each)
        labels = [at for at, each in enumerate(phrases) for _ in each]
        self._weights = fit_plain(self._grams.rows, labels, self._intents)
        left = iter(self._grams.rows)
        self._rows = [[next(left) for _ in each] for each in phrases]
        usual = [
            _near(row, each[:at] + each[at + 1 :])
            for each in self._rows
            if len(each) > 1
            for at, row in enumerate(each)
        ]
        self._usual = sum(usual) / len(usual) if usual else USUAL

    def scores(self, message: str) -> Scores:
        row = self._grams.vector(message)
        each = scores_of(row, self._weights, self._intents)
        best = max(range(self._intents), key=each.__getitem__)
        return Scores(each, _near(row, self._rows[best]), self._usual)


def fit_plain(rows: Sequence[Sparse], labels: Sequence[int], classes: int) -> Weights:
    """Fit the weights and return them. For each column of the rows, there is one weight for each class."""
    weights = _means(rows, labels, classes)
    work = 2 * classes * sum(map(len, rows))
    rounds = max(ROUNDS_MIN, min(ROUNDS_MAX, WORK_MAX // max(1, work)))
    for number in range(rounds):
        rate = RATE / (1 + number / 4)
        for row, label in zip(rows, labels, strict=True):
            shares = softmax(scores_of(row, weights, classes))
            shares[label] -= 1.0
            moved = [(at, rate * share) for at, share in enumerate(shares) if abs(share) > _UNMOVED]
            for place, value in row.items():
                each = weights[place]
                for at, share in moved:
                    each[at] -= share * value
    return weights


def scores_of(row: Sparse, weights: Weights, classes: int) -> list[float]:
    """The score of each class for this row."""
    scores = [0.0] * classes
    for place, value in row.items():
        if each := weights.get(place):
            scores = [score + value * weight for score, weight in zip(scores, each, strict=True)]
    return scores


def softmax(scores: Sequence[float]) -> list[float]:
    """Convert scores to probabilities that add up to 1."""
    highest = max(scores)
    odds = [math.exp(score - highest) for score in scores]
    total = sum(odds)
    return [each / total for each in odds]


def _near(row: Sparse, others: Sequence[Sparse]) -> float:
    """The mean similarity of `row` to the few rows in `others` that are most similar to it."""
    alike = [sum(value * other.get(place, 0.0) for place, value in row.items()) for other in others]
    nearest = sorted(alike)[-NEAREST:]
    return sum(nearest) / len(nearest)


def _means(rows: Sequence[Sparse], labels: Sequence[int], classes: int) -> Weights:
    """Initial weights: the mean of each class, relative to the mean of all classes."""
    counts = [max(1, labels.count(at)) for at in range(classes)]
    weights: Weights = {}
    for row, label in zip(rows, labels, strict=True):
        for place, value in row.items():
            weights.setdefault(place, [0.0] * classes)[label] += START * value / counts[label]
    for each in weights.values():
        middle = sum(each) / classes
        each[:] = [weight - middle for weight in each]
    return weights
