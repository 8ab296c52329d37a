"""States on a grid: each in its own cell, the same every time, with moves that don't cross if they needn't."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from duologue.draw import layout
from duologue.draw.layout import Cell, place


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


def plain_cost(cells: list[Cell], pairs: list[tuple[int, int]]) -> float:
    """The cost as it is defined, without tables."""
    cost = layout.FAR_START * sum(cells[0])
    cost += layout.OUT_OF_ORDER * sum(after[::-1] < before[::-1] for before, after in pairwise(cells))
    lines = [(cells[a], cells[b]) for a, b in pairs]
    for (start, end), (a, b) in zip(lines, pairs, strict=True):
        blocks = sum(cell in cells for cell in layout.cells_between(start, end))
        effort = layout.length_cost(start, end) + layout.BLOCKED * min(blocks, 2)
        cost += effort * layout.STORY if b == a + 1 else effort
        cost += layout.UPHILL * (a < b and end[1] < start[1])
    return cost + layout.CROSSED * sum(layout.cross(*one, *other) for one, other in combinations(lines, 2))


def test_the_tables_of_the_search_give_the_cost_as_it_is_defined_also_of_moves_that_occur_twice() -> None:
    chance = random.Random(7)
    for _ in range(200):
        pairs = [(chance.randrange(7), chance.randrange(7)) for _ in range(12)]
        pairs += pairs[:2]
        search = layout.CellSearch(7, layout.numbered(pairs), 3, 3)
        order = chance.sample(range(9), 9)
        cells = [(cell % 3, cell // 3) for cell in order[:7]]
        assert search.cost(order) == plain_cost(cells, pairs)
        limit = chance.uniform(20, 200)
        assert (search.cost(order, limit) < limit) is (plain_cost(cells, pairs) < limit)
