"""Places states on a grid. A small search finds an arrangement with short lines and few crossings.

The search uses only the names of the states and the pairs of states that are connected, but no sizes. Rule: the same
input always gives the same result, because the random generator has a fixed seed. If several results are equally good,
the first of them is used.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations, pairwise
from typing import TypeAlias

Cell: TypeAlias = tuple[int, int]  # column, row
Pair: TypeAlias = tuple[int, int]  # source and target, by index

_RESTARTS = 40
_BLOCKED, _CROSSED, _UPHILL, _OUT_OF_ORDER, _FAR_START = 3.0, 2.5, 0.4, 0.5, 8.0
_STORY = 3.0  # how much more a move counts if it leads to the state that is defined next


@cache
def place(names: tuple[str, ...], moves: tuple[tuple[str, str], ...], columns: int, rows: int) -> dict[str, Cell]:
    """The cell of the grid for each name. The cells are chosen so that moves are short, rarely cross each other, and
    mostly lead down or to the right."""
    assert len(names) <= columns * rows, "the grid is too small"
    index = {name: number for number, name in enumerate(names)}
    pairs = tuple((index[source], index[target]) for source, target in moves)
    cells = [(column, row) for row in range(rows) for column in range(columns)]
    best = _improved(cells, len(names), pairs)
    shuffler = random.Random(1)
    for _ in range(_RESTARTS):
        order = cells.copy()
        shuffler.shuffle(order)
        found = _improved(order, len(names), pairs)
        if found[0] < best[0] - 1e-9:
            best = found
    return dict(zip(names, best[1], strict=False))


def _improved(cells: list[Cell], count: int, pairs: tuple[Pair, ...]) -> tuple[float, list[Cell]]:
    """Swap cells as long as this lowers the cost. The first `count` cells belong to the states, and the other cells are
    empty. Returns the lowest cost that was found, and the cells of the states."""
    cells = cells.copy()
    cost = _cost(cells[:count], pairs)
    improves = True
    while improves:
        improves = False
        for a, b in combinations(range(len(cells)), 2):
            if a >= count:
                break
            cells[a], cells[b] = cells[b], cells[a]
            new_cost = _cost(cells[:count], pairs)
            if new_cost < cost - 1e-9:
                cost, improves = new_cost, True
            else:
                cells[a], cells[b] = cells[b], cells[a]
    return cost, cells[:count]


def _cost(cells: list[Cell], pairs: tuple[Pair, ...]) -> float:
    (column, row), cost = cells[0], 0.0
    cost += _FAR_START * (column + row)
    for before, after in pairwise(cells):
        cost += _OUT_OF_ORDER * ((after[1], after[0]) < (before[1], before[0]))
    taken = frozenset(cells)
    segments = [(cells[a], cells[b]) for a, b in pairs]
    for (start, end), (a, b) in zip(segments, pairs, strict=True):
        blocks = sum(cell in taken for cell in _cells_between(start, end))
        effort = _length(start, end) + _BLOCKED * min(blocks, 2)
        cost += effort * _STORY if b == a + 1 else effort
        cost += _UPHILL * (a < b and end[1] < start[1])
    return cost + _CROSSED * sum(_cross(*one, *other) for one, other in combinations(segments, 2))


@cache
def _length(start: Cell, end: Cell) -> float:
    return float(((start[0] - end[0]) ** 2 + (start[1] - end[1]) ** 2) ** 0.75)


@cache
def _cells_between(start: Cell, end: Cell) -> tuple[Cell, ...]:
    """The cells that a straight line from `start` to `end` passes through, without these two cells."""
    (ax, ay), (bx, by) = start, end
    across = max(abs(bx - ax), abs(by - ay))
    return tuple(
        (x, y)
        for x in range(min(ax, bx), max(ax, bx) + 1)
        for y in range(min(ay, by), max(ay, by) + 1)
        if (x, y) not in (start, end) and abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) * 2 <= across
    )


@cache
def _cross(a: Cell, b: Cell, c: Cell, d: Cell) -> bool:
    if len({a, b, c, d}) < 4:
        return False
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Cell, b: Cell, c: Cell) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
