"""The classifier without numpy learns as well."""

from __future__ import annotations

import pytest

from duologue.nlu.stdlib_classifier import fit_plain, scores_of, softmax


def test_the_regression_separates_classes() -> None:
    rows = [{0: 1.0}, {0: 0.9, 1: 0.1}, {1: 1.0}, {1: 0.8, 2: 0.2}, {2: 1.0}, {2: 0.9}]
    weights = fit_plain(rows, [0, 0, 1, 1, 2, 2], 3)
    assert [scores_of(row, weights, 3).index(max(scores_of(row, weights, 3))) for row in rows] == [0, 0, 1, 1, 2, 2]
    assert scores_of({77: 1.0}, weights, 3) == [0.0, 0.0, 0.0]


def test_probabilities_add_up_to_one() -> None:
    assert sum(softmax([1.0, 2.0, -700.0, 700.0])) == pytest.approx(1)
