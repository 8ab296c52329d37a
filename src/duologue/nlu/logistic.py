"""Logistic regression over many classes, fitted by L-BFGS in numpy.

No bias: rows have length one, and classes count the same however many rows they have. Rule: the same rows
give the same weights, to the bit on one machine.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

STRENGTH = 0.03  # of the pull towards zero; chosen by cross-validation (docs/nlu.md)
STEPS_MAX = 60
_REMEMBERED = 8
_CLOSE = 1e-4  # the loss falls by less than this share: good enough
_SHORTEST = 1e-3

Floats = NDArray[np.float32]


def fit(rows: Floats, labels: NDArray[np.int64], classes: int) -> Floats:
    """Weights, a column for each class, so that the best of `row @ weights` is the label."""
    if rows.shape[1] > len(rows):
        return _fit_few(rows, labels, classes)
    problem = _Problem(rows, labels, classes)
    weights = np.zeros((rows.shape[1], classes), np.float32)
    loss, slope = problem.loss(weights)
    past: deque[tuple[Floats, Floats, float]] = deque(maxlen=_REMEMBERED)
    for _ in range(STEPS_MAX):
        way = _way(slope, past)
        descent, pace = _dot(slope, way), 1.0
        while True:
            new = weights - pace * way
            new_loss, new_slope = problem.loss(new)
            if new_loss <= loss - 1e-4 * pace * descent or pace < _SHORTEST:
                break
            pace *= 0.5
        moved, bent = new - weights, new_slope - slope
        curvature = _dot(moved, bent)
        if curvature > 1e-10:
            past.append((moved, bent, 1 / curvature))
        is_close = loss - new_loss < _CLOSE * new_loss
        weights, loss, slope = new, new_loss, new_slope
        if is_close:
            break
    return weights


def _fit_few(rows: Floats, labels: NDArray[np.int64], classes: int) -> Floats:
    """Fewer rows than columns: the weights lie in the span of the rows, so that space is enough."""
    products = (rows @ rows.T).astype(np.float64)
    products[np.diag_indices_from(products)] += 1e-5
    root = np.linalg.cholesky(products)
    inner = fit(root.astype(np.float32), labels, classes)
    weights: Floats = rows.T @ np.linalg.solve(root.T, inner.astype(np.float64)).astype(np.float32)
    return weights


class _Problem:
    """How wrong weights are, and which way they should go."""

    def __init__(self, rows: Floats, labels: NDArray[np.int64], classes: int) -> None:
        self._rows = rows
        self._wanted = np.zeros((len(rows), classes), np.float32)
        self._wanted[np.arange(len(rows)), labels] = 1.0
        counts = np.maximum(1, np.bincount(labels, minlength=classes))
        self._shares = (len(rows) / (classes * counts))[labels].astype(np.float32)[:, None]

    def loss(self, weights: Floats) -> tuple[float, Floats]:
        scores = self._rows @ weights
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        sums = odds.sum(axis=1, keepdims=True)
        missed = (np.log(sums) - (scores * self._wanted).sum(axis=1, keepdims=True)) * self._shares
        odds /= sums
        odds -= self._wanted
        odds *= self._shares
        slope: Floats = self._rows.T @ odds
        slope += STRENGTH * weights
        return float(missed.sum()) + STRENGTH / 2 * _dot(weights, weights), slope


def _way(slope: Floats, past: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Where L-BFGS goes from here, by what the last steps taught about curvature."""
    way, shares = slope.copy(), []
    for moved, bent, scale in reversed(past):
        share = scale * _dot(moved, way)
        shares.append(share)
        way -= share * bent
    if past:
        _, bent, scale = past[-1]
        way /= scale * _dot(bent, bent)
    else:
        way /= max(_dot(slope, slope) ** 0.5, 1e-12)
    for (moved, bent, scale), share in zip(past, reversed(shares), strict=True):
        way += (share - scale * _dot(bent, way)) * moved
    return way


def _dot(one: Floats, other: Floats) -> float:
    return float(np.vdot(one, other))
