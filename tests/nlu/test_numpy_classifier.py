"""Scopes are learned from words, with numpy and without; similarity is the same for sparse and dense rows."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.nlu.numpy_classifier import WordScope, unit, view_of
from duologue.nlu.stdlib_classifier import PlainScope
from tests.nlu.restaurant_phrases import ASKED, PHRASES


@pytest.mark.parametrize("kind", [WordScope, PlainScope])
def test_scopes_are_learned_from_words(kind: type[WordScope] | type[PlainScope]) -> None:
    scope = kind(PHRASES)
    assert [scope.scores(text).best for text, _ in ASKED] == [wanted for _, wanted in ASKED]
    assert scope.scores("a table for six").near > scope.scores("the moon is far away").near


def test_both_classifiers_agree_on_similarity() -> None:
    one, other = WordScope(PHRASES).scores("reserve a table"), PlainScope(PHRASES).scores("reserve a table")
    assert one.near == pytest.approx(other.near, abs=1e-4)
    assert one.usual == pytest.approx(other.usual, abs=1e-4)


def test_similarity_is_the_same_for_sparse_and_dense_rows() -> None:
    rows = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0], [0.2, 0.0], [0.1, 0.0]], np.float32)
    row, labels = np.array([1.0, 0.25], np.float32), np.array([0, 0, 1, 0, 0])
    for is_sparse in (False, True):
        view = view_of(rows, labels, 2, is_sparse=is_sparse)
        scores = view.with_similarity(view.scores(row), row)
        assert (scores.best, scores.near) == (0, pytest.approx(1.7 / 3)), "of the three nearest phrases"


def test_rows_are_scaled_to_length_one() -> None:
    scaled = unit(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32))
    assert np.allclose(scaled, [[0.6, 0.8], [0.0, 0.0]])
