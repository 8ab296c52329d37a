"""Routes lines from box to box as curves that avoid the boxes and each other.

A port is a point where a line may touch a box. For every line, curves between all pairs of ports are compared, and the
cheapest is chosen. Then each line is removed and routed again, because the routes of the other lines are known now.
Rule: a curve meets a box at a right angle, so that arrow heads look right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import fsum, hypot
from typing import NamedTuple, TypeAlias

from .shapes import Box, Curve, Point

_PASSES = 3
_BENDS = (22.0, 34.0, 48.0, 68.0, 96.0, 136.0)
_BEND_PART = 0.11  # the smallest bend of a curve, as a share of its length, so that it meets its arrow head straight
_PORT_PARTS = (0.5, 0.28, 0.72)
_CLEARANCE = 7.0
_CROWD_CELL = 8.0
_HIT, _CROWDED, _SHARED_PORT, _OFF_CENTRE = 400.0, 14.0, 60.0, 5.0


class Port(NamedTuple):
    """A point where a line may touch a box, and the direction away from the box."""

    at: Point
    out: Point
    off_centre: bool


class Route(NamedTuple):
    source: Port
    target: Port
    curve: Curve


_Cells: TypeAlias = list[tuple[int, int]]


def route(boxes: dict[str, Box], ends: Sequence[tuple[str, str]]) -> list[Curve]:
    """One curve for each pair in `ends`. A pair has the names of the two boxes to connect."""
    routes = _Routes(boxes)
    found: list[Route | None] = [None] * len(ends)
    shortest_first = sorted(range(len(ends)), key=lambda number: (_distance(boxes, ends[number]), number))
    for _ in range(_PASSES):
        for number in shortest_first:
            old = found[number]
            if old is not None:
                routes.take(old, -1)
            found[number] = new = routes.best(*ends[number])
            routes.take(new, 1)
    return [done.curve for done in found if done is not None]


def _distance(boxes: dict[str, Box], ends: tuple[str, str]) -> float:
    (ax, ay), (bx, by) = (boxes[end].centre for end in ends)
    return round(hypot(ax - bx, ay - by), 3)


class _Routes:
    """The boxes, and how often the routes so far use each port and each cell of a fine grid."""

    def __init__(self, boxes: dict[str, Box]) -> None:
        self._boxes = boxes
        self._walls = {name: box.grown(_CLEARANCE) for name, box in boxes.items()}
        self._ports = {name: _ports_of(box) for name, box in boxes.items()}
        self._used: Counter[Point] = Counter()
        self._crowd: Counter[tuple[int, int]] = Counter()

    def take(self, found: Route, times: int) -> None:
        for port in (found.source, found.target):
            self._used[port.at] += times
        for cell in _cells_of(found.curve.samples()):
            self._crowd[cell] += times

    def best(self, source: str, target: str) -> Route:
        """The cheapest route between two boxes. The cost of a route includes its collisions with boxes and other
        routes. Candidates are tried in the order of their cost without collisions. The search stops when even this cost
        isn't lower than the total cost of the best route so far."""
        best, best_cost = None, float("inf")
        for cost, candidate in self._candidates(source, target):
            if cost >= best_cost:
                break
            cost += self._trouble(candidate.curve, source, target)
            if cost < best_cost:
                best, best_cost = candidate, cost
        assert best is not None, "every box has ports"
        return best

    def _candidates(self, source: str, target: str) -> list[tuple[float, Route]]:
        found = []
        for start in self._ports[source]:
            for end in self._ports[target]:
                cost = _SHARED_PORT * (self._used[start.at] + self._used[end.at])
                cost += _OFF_CENTRE * (start.off_centre + end.off_centre)
                for bend in _bends_for(start.at, end.at):
                    first, second = start.at.along(start.out, bend), end.at.along(end.out, bend)
                    curve = Curve(start.at, first, second, end.at)
                    found.append((cost + _effort(curve), Route(start, end, curve)))
        return sorted(found, key=lambda pair: pair[0])

    def _trouble(self, curve: Curve, source: str, target: str) -> float:
        """The cost of a curve because of its collisions with boxes and other routes."""
        points = curve.samples()
        inner = points[2:-2]
        hits = 0
        for name, wall in self._walls.items():
            box = self._boxes[name] if name in (source, target) else wall
            hits += sum(box.holds(point) for point in inner)
        return _HIT * hits + _CROWDED * sum(self._crowd[cell] for cell in _cells_of(points))


def _bends_for(start: Point, end: Point) -> list[float]:
    widest_needed = _BEND_PART * hypot(start.x - end.x, start.y - end.y)
    return [bend for bend in _BENDS if bend >= min(widest_needed, _BENDS[-1])]


def _effort(curve: Curve) -> float:
    """The cost of a curve because of its length and its bends, computed from its control points."""
    start, first, second, end = curve
    legs = ((start, first), (first, second), (second, end))
    way = fsum(hypot(a.x - b.x, a.y - b.y) for a, b in legs)
    straight = hypot(start.x - end.x, start.y - end.y)
    return round(way + (way - straight) * 0.8, 4)


def _cells_of(points: Sequence[Point]) -> _Cells:
    """The cells of a fine grid through which a line passes. If two lines share a cell, they cross or are too close to
    each other."""
    cells = dict.fromkeys((int(point.x // _CROWD_CELL), int(point.y // _CROWD_CELL)) for point in points)
    return list(cells)


@cache
def _ports_of(box: Box) -> tuple[Port, ...]:
    ports = []
    for part in _PORT_PARTS:
        off = part != 0.5
        x, y = box.x + box.width * part, box.y + box.height * part
        ports += [
            Port(Point(x, box.y), Point(0, -1), off),
            Port(Point(x, box.bottom), Point(0, 1), off),
            Port(Point(box.x, y), Point(-1, 0), off),
            Port(Point(box.right, y), Point(1, 0), off),
        ]
    return tuple(ports)
