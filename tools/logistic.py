"""Logistic regression, standard scores and principal components in numpy: part of tools/fit_turns.py.

Rule: everything here is deterministic, so that the same recordings give the same table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

STEPS_MAX = 50
_CLOSE = 1e-10


class Standard(NamedTuple):
    """Mean and spread of each column."""

    mean: Any
    spread: Any

    def __call__(self, rows: Any) -> Any:
        return (rows - self.mean) / self.spread


def standard(rows: Any) -> Standard:
    """The mean and spread of these rows. A column that never changes has a spread of 1."""
    spread = rows.std(axis=0)
    return Standard(rows.mean(axis=0), np.where(spread > 0, spread, 1.0))


class Components(NamedTuple):
    """The main directions in which rows differ, one in each row, scaled so that the results have a variance of 1."""

    mean: Any
    directions: Any

    def __call__(self, rows: Any) -> Any:
        return (rows - self.mean) @ self.directions.T


def components(rows: Any, count: int) -> Components:
    """The `count` main directions of these rows."""
    mean = rows.mean(axis=0)
    _, sizes, directions = np.linalg.svd(rows - mean, full_matrices=False)
    spread = sizes[:count] / np.sqrt(len(rows) - 1)
    return Components(mean, directions[:count] / spread[:, None])


class Logistic(NamedTuple):
    """The log-odds of a row: `start`, plus its weighted sum."""

    start: float
    weights: Any

    def __call__(self, rows: Any) -> Any:
        return self.start + rows @ self.weights


def logistic(rows: Any, over: Any, importance: Any, strength: float) -> Logistic:
    """Fit a logistic model by Newton's method. Smaller `strength` means smaller weights; `start` isn't limited."""
    inputs = np.hstack([np.ones((len(rows), 1)), rows])
    limit = np.full(inputs.shape[1], 1.0)
    limit[0] = 0.0
    found = np.zeros(inputs.shape[1])
    for _ in range(STEPS_MAX):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ found, -30, 30)))
        slope = limit * found + strength * inputs.T @ (importance * (chance - over))
        curve = np.diag(limit) + strength * (inputs * (importance * chance * (1 - chance))[:, None]).T @ inputs
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(found)), slope)
        found -= step
        if np.abs(step).max() < _CLOSE:
            break
    return Logistic(float(found[0]), found[1:])


def area(over: Any, scores: Any) -> float:
    """The area under the ROC curve: how often a pause that is over scores higher than one that isn't."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores):
        same = scores == value
        if same.sum() > 1:
            ranks[same] = ranks[same].mean()
    count = over.sum()
    return float((ranks[over].sum() - count * (count + 1) / 2) / (count * (len(over) - count)))
