"""Rows that are mostly zeros, kept without them.

Only what nearness needs: the product of all rows with one dense vector. Rule: the result is that of the dense
product, rows of zeros included.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class SparseRows:
    """The numbers of some rows that aren't zero, and where they stand."""

    def __init__(self, rows: Floats) -> None:
        self._at, columns = np.nonzero(rows)
        self._values = rows[self._at, columns]
        self._columns = columns.astype(np.int32)
        self._rows = len(rows)

    def __matmul__(self, other: Floats) -> Floats:
        products = self._values * other[self._columns]
        return np.bincount(self._at, products, self._rows).astype(np.float32)
