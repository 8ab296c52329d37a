"""Places states on a grid. A small search finds an arrangement with short lines and few crossings.

The search uses only the names of the states and the pairs of states that are connected, but no sizes. Rule: the same
input always gives the same result, because the random generator has a fixed seed. If several results are equally good,
the first of them is used.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

Cell: TypeAlias = tuple[int, int]  # column, row

_RESTARTS = 40
BLOCKED, CROSSED, UPHILL, OUT_OF_ORDER, FAR_START = 3.0, 2.5, 0.4, 0.5, 8.0
STORY = 3.0  # how much more a move counts if it leads to the state that is defined next
_LEAST = 1e-9  # a smaller improvement doesn't count


class GridMove(NamedTuple):
    """A move between two states, given by the numbers of the states. `copy` counts the earlier moves between the same
    states."""

    source: int
    target: int
    copy: int


class GridLine(NamedTuple):
    """A straight line between two cells of the grid. Cells are numbered, and a set of cells or lines is a bit mask."""

    efforts: tuple[float, float, float]  # if no, one, or several states are in its way
    between: int  # the cells that it passes through
    leads_up: bool
    crossed: int  # the lines that cross it


@cache
def place(names: tuple[str, ...], moves: tuple[tuple[str, str], ...], columns: int, rows: int) -> dict[str, Cell]:
    """The cell of the grid for each name. The cells are chosen so that moves are short, rarely cross each other, and
    mostly lead down or to the right."""
    assert len(names) <= columns * rows, "the grid is too small"
    index = {name: number for number, name in enumerate(names)}
    search = CellSearch(len(names), numbered((index[a], index[b]) for a, b in moves), columns, rows)
    order = list(range(columns * rows))
    best = search.improved(order)
    shuffler = random.Random(1)
    for _ in range(_RESTARTS):
        shuffled = order.copy()
        shuffler.shuffle(shuffled)
        found = search.improved(shuffled)
        if found[0] < best[0] - _LEAST:
            best = found
    return {name: (cell % columns, cell // columns) for name, cell in zip(names, best[1], strict=True)}


def numbered(pairs: Iterable[tuple[int, int]]) -> tuple[GridMove, ...]:
    """Make a connection of each pair, and count the pairs that occur more than once."""
    seen: Counter[tuple[int, int]] = Counter()
    moves = []
    for pair in pairs:
        moves.append(GridMove(*pair, seen[pair]))
        seen[pair] += 1
    return tuple(moves)


class CellSearch:
    """Looks for cells with a low cost. Tables of all cells and lines are made once, because the search compares very
    many arrangements."""

    def __init__(self, count: int, moves: tuple[GridMove, ...], columns: int, rows: int) -> None:
        self._count = count
        self._copies = 1 + max((move.copy for move in moves), default=0)
        self._cells = [(column, row) for row in range(rows) for column in range(columns)]
        self._lines = _lines_of(columns, rows, self._copies)
        self._moves = [(*move, STORY if move.target == move.source + 1 else 1.0) for move in moves]

    def improved(self, cells: list[int]) -> tuple[float, list[int]]:
        """Swap cells as long as this lowers the cost. The first cells belong to the states, and the other cells are
        empty. Returns the lowest cost that was found, and the cells of the states."""
        cells = cells.copy()
        cost = self.cost(cells)
        improves = True
        while improves:
            improves = False
            for a, b in combinations(range(len(cells)), 2):
                if a >= self._count:
                    break
                cells[a], cells[b] = cells[b], cells[a]
                new_cost = self.cost(cells, cost - _LEAST)
                if new_cost < cost - _LEAST:
                    cost, improves = new_cost, True
                else:
                    cells[a], cells[b] = cells[b], cells[a]
        return cost, cells[: self._count]

    def cost(self, cells: list[int], limit: float = float("inf")) -> float:
        """The cost of an arrangement. As soon as the sum of its parts reaches `limit`, this sum is returned without the
        remaining parts, which can't be negative."""
        cells = cells[: self._count]
        cost = FAR_START * sum(self._cells[cells[0]])
        cost += OUT_OF_ORDER * sum(after < before for before, after in pairwise(cells))
        taken = 0
        for cell in cells:
            taken |= 1 << cell
        size, lines, copies = len(self._cells), self._lines, self._copies
        drawn, crossed = 0, []
        for source, target, copy, weight in self._moves:
            if cost >= limit:
                return cost
            number = cells[source] * size + cells[target]
            efforts, between, leads_up, crosses = lines[number]
            cost += efforts[min((between & taken).bit_count(), 2)] * weight
            if leads_up and source < target:
                cost += UPHILL
            drawn |= 1 << number * copies + copy
            crossed.append(crosses)
        return cost + CROSSED * (sum((crosses & drawn).bit_count() for crosses in crossed) // 2)


@cache
def _lines_of(columns: int, rows: int, copies: int) -> tuple[GridLine, ...]:
    """The lines from every cell to every cell of a grid. In a set of lines, each line has as many bits as there may be
    moves between the same two states."""
    cells = [(column, row) for row in range(rows) for column in range(columns)]
    ends = [(start, end) for start in cells for end in cells]
    bit = {cell: 1 << number for number, cell in enumerate(cells)}
    bits = {pair: ((1 << copies) - 1) << number * copies for number, pair in enumerate(ends)}
    lines = []
    for start, end in ends:
        length = length_cost(start, end)
        efforts = (length, length + BLOCKED, length + BLOCKED * 2)
        between = sum(bit[cell] for cell in cells_between(start, end))
        crossed = sum(bits[other] for other in ends if cross(start, end, *other))
        lines.append(GridLine(efforts, between, end[1] < start[1], crossed))
    return tuple(lines)


def length_cost(start: Cell, end: Cell) -> float:
    """The cost of a line's length: a long line costs more than two short ones."""
    return float(((start[0] - end[0]) ** 2 + (start[1] - end[1]) ** 2) ** 0.75)


def cells_between(start: Cell, end: Cell) -> tuple[Cell, ...]:
    """The cells that a straight line from `start` to `end` passes through, without these two cells."""
    (ax, ay), (bx, by) = start, end
    across = max(abs(bx - ax), abs(by - ay))
    return tuple(
        (x, y)
        for x in range(min(ax, bx), max(ax, bx) + 1)
        for y in range(min(ay, by), max(ay, by) + 1)
        if (x, y) not in (start, end) and abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) * 2 <= across
    )


def cross(a: Cell, b: Cell, c: Cell, d: Cell) -> bool:
    """Does the line from a to b cross the line from c to d? Lines with a common end don't."""
    if len({a, b, c, d}) < 4:
        return False
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Cell, b: Cell, c: Cell) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
