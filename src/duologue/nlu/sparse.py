"""A sparse matrix with a single operation: the product with a dense vector.

This is all that is needed to compute the similarity of a message to phrases. Rule: the result is the same as with a
dense matrix, even for rows of zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class SparseRows:
    """A matrix, stored as its non-zero values and their positions."""

    def __init__(self, rows: Floats) -> None:
        self._at, columns = np.nonzero(rows)
        self._values = rows[self._at, columns]
        self._columns = columns.astype(np.int32)
        self._rows = len(rows)

    def __matmul__(self, other: Floats) -> Floats:
        products = self._values * other[self._columns]
        return np.bincount(self._at, products, self._rows).astype(np.float32)
