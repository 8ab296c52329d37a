"""Rows: one region each, sources that may be many leaves, and names for diagrams and logs."""

from __future__ import annotations

import pytest

from duologue.core.leaves import FROZEN, SOUNDING
from duologue.core.machine import ROWS


@pytest.mark.req("C-PAT-001")
def test_a_row_stands_in_one_region_and_may_hold_for_many_leaves_of_it() -> None:
    assert all(len({type(leaf) for leaf in row.sources}) == 1 for row in ROWS)
    assert any(set(row.sources) >= set(FROZEN) for row in ROWS)
    assert any(set(row.sources) >= set(SOUNDING) for row in ROWS)
