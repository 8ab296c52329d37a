"""Multinomial logistic regression, fitted by L-BFGS in numpy.

There is no bias term. Rows must be unit vectors. Every class has the same weight in the loss, no matter how many rows
it has. Rule: on the same computer, the same rows give bit-identical weights.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

REGULARISATION = 0.03  # L2 regularisation; chosen by cross-validation (docs/nlu.md)
STEPS_MAX = 60
_HISTORY_MAX = 8
_CLOSE = 1e-4  # fitting stops when a step lowers the loss by less than this share
_STEP_MIN = 1e-3

Floats = NDArray[np.float32]


def fit(rows: Floats, labels: NDArray[np.int64], classes: int) -> Floats:
    """Fit the weights and return them, with one column for each class. For a row of the training data, `row @ weights`
    should be highest in the column of the row's class."""
    if rows.shape[1] > len(rows):
        return _fit_few(rows, labels, classes)
    problem = _Problem(rows, labels, classes)
    weights = np.zeros((rows.shape[1], classes), np.float32)
    loss, gradient = problem.loss(weights)
    past: deque[tuple[Floats, Floats, float]] = deque(maxlen=_HISTORY_MAX)
    for _ in range(STEPS_MAX):
        direction = _direction(gradient, past)
        descent, step_size = _dot(gradient, direction), 1.0
        while True:
            new = weights - step_size * direction
            new_loss, new_gradient = problem.loss(new)
            if new_loss <= loss - 1e-4 * step_size * descent or step_size < _STEP_MIN:
                break
            step_size *= 0.5
        step, gradient_change = new - weights, new_gradient - gradient
        curvature = _dot(step, gradient_change)
        if curvature > 1e-10:
            past.append((step, gradient_change, 1 / curvature))
        is_close = loss - new_loss < _CLOSE * new_loss
        weights, loss, gradient = new, new_loss, new_gradient
        if is_close:
            break
    return weights


def _fit_few(rows: Floats, labels: NDArray[np.int64], classes: int) -> Floats:
    """Fit the weights if there are fewer rows than columns. Each column of the weights is then a linear combination of
    the rows, so the fit only looks for the coefficients of this combination."""
    products = (rows @ rows.T).astype(np.float64)
    products[np.diag_indices_from(products)] += 1e-5
    root = np.linalg.cholesky(products)
    inner = fit(root.astype(np.float32), labels, classes)
    weights: Floats = rows.T @ np.linalg.solve(root.T, inner.astype(np.float64)).astype(np.float32)
    return weights


class _Problem:
    """The loss function and its gradient."""

    def __init__(self, rows: Floats, labels: NDArray[np.int64], classes: int) -> None:
        self._rows = rows
        self._targets = np.zeros((len(rows), classes), np.float32)
        self._targets[np.arange(len(rows)), labels] = 1.0
        counts = np.maximum(1, np.bincount(labels, minlength=classes))
        self._shares = (len(rows) / (classes * counts))[labels].astype(np.float32)[:, None]

    def loss(self, weights: Floats) -> tuple[float, Floats]:
        scores = self._rows @ weights
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        sums = odds.sum(axis=1, keepdims=True)
        missed = (np.log(sums) - (scores * self._targets).sum(axis=1, keepdims=True)) * self._shares
        odds /= sums
        odds -= self._targets
        odds *= self._shares
        gradient: Floats = self._rows.T @ odds
        gradient += REGULARISATION * weights
        return float(missed.sum()) + REGULARISATION / 2 * _dot(weights, weights), gradient


def _direction(gradient: Floats, past: deque[tuple[Floats, Floats, float]]) -> Floats:
    """The L-BFGS direction, which is subtracted from the weights. It is computed from the gradient and the last
    steps."""
    direction, shares = gradient.copy(), []
    for step, gradient_change, scale in reversed(past):
        share = scale * _dot(step, direction)
        shares.append(share)
        direction -= share * gradient_change
    if past:
        _, gradient_change, scale = past[-1]
        direction /= scale * _dot(gradient_change, gradient_change)
    else:
        direction /= max(_dot(gradient, gradient) ** 0.5, 1e-12)
    for (step, gradient_change, scale), share in zip(past, reversed(shares), strict=True):
        direction += (share - scale * _dot(gradient_change, direction)) * step
    return direction


def _dot(one: Floats, other: Floats) -> float:
    return float(np.vdot(one, other))
