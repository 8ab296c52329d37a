"""A sparse product equals the dense one."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.nlu.sparse import SparseRows


def test_the_product_equals_the_dense_product() -> None:
    dice = np.random.default_rng(4)
    rows = np.where(dice.random((6, 40)) < 0.1, dice.normal(size=(6, 40)), 0).astype(np.float32)
    rows[[2, 5]] = 0
    other = dice.normal(size=40).astype(np.float32)
    assert SparseRows(rows) @ other == pytest.approx(rows @ other, abs=1e-5)
