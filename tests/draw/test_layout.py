"""States on a grid: each in its own cell, the same every time, with moves that don't cross if they needn't."""

from __future__ import annotations

import pytest

from duologue.draw.layout import place


def test_every_state_has_its_own_cell_within_the_grid() -> None:
    names = tuple("abcdefg")
    cells = place(names, (("a", "b"), ("b", "c"), ("c", "a"), ("f", "g")), 3, 3)
    assert set(cells) == set(names)
    assert len(set(cells.values())) == len(names)
    assert all(0 <= column < 3 and 0 <= row < 3 for column, row in cells.values())


def test_a_chain_is_placed_in_neighbouring_cells() -> None:
    cells = place(("a", "b", "c", "d"), (("a", "b"), ("b", "c"), ("c", "d")), 2, 2)
    assert cells["a"] == (0, 0)
    for one, other in (("a", "b"), ("b", "c"), ("c", "d")):
        (ax, ay), (bx, by) = cells[one], cells[other]
        assert abs(ax - bx) + abs(ay - by) == 1


def test_a_grid_that_is_too_small_is_refused() -> None:
    with pytest.raises(AssertionError, match="too small"):
        place(("a", "b", "c"), (), 1, 2)
