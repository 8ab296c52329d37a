"""Routes lines from box to box as curves that avoid the boxes and each other.

A port is a point where a line may touch a box. For every line, curves between all pairs of ports are compared, and the
cheapest is chosen. Then each line is removed and routed again, because the routes of the other lines are known now.
Rule: a curve meets a box at a right angle, so that arrow heads look right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum, hypot
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from .shapes import Box, Curve, Point, bounds_of

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


class CurveEnd(NamedTuple):
    """The end of a curve at a port: its control point, and the distance between both."""

    port: Port
    control: Point
    length: float


@dataclass(slots=True, eq=False)
class Route:
    """A curve between two ports. Its costs without other routes are computed once, as they never change."""

    source: Port
    target: Port
    curve: Curve
    off_centre: float  # the cost of ports that aren't in the middle
    effort: float  # the cost of its length and its bends
    way: Way | None = None  # once it was compared with the boxes


_Cells: TypeAlias = list[tuple[int, int]]


class Way(NamedTuple):
    """What a route meets: the number of its points in boxes, and the cells of a fine grid through which it passes."""

    hits: int
    cells: _Cells


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
        self._routes: dict[tuple[str, str], list[Route]] = {}

    def take(self, found: Route, times: int) -> None:
        for port in (found.source, found.target):
            self._used[port.at] += times
        assert found.way is not None, "a route that was chosen was compared with the boxes"
        for cell in found.way.cells:
            self._crowd[cell] += times

    def best(self, source: str, target: str) -> Route:
        """The cheapest route between two boxes. The cost of a route includes its collisions with boxes and other
        routes. Candidates are tried in the order of their cost without collisions. The search stops when even this cost
        isn't lower than the total cost of the best route so far."""
        best, best_cost = None, float("inf")
        for cost, candidate in self._candidates(source, target):
            if cost >= best_cost:
                break
            cost += self._trouble(candidate, source, target)
            if cost < best_cost:
                best, best_cost = candidate, cost
        assert best is not None, "every box has ports"
        return best

    def _candidates(self, source: str, target: str) -> list[tuple[float, Route]]:
        """The routes between two boxes, cheapest first, each with its cost without collisions. They are computed only
        once for each pair of boxes."""
        routes = self._routes.get((source, target))
        if routes is None:
            routes = self._routes[source, target] = _routes_between(self._ports[source], self._ports[target])
        used = {port.at: _SHARED_PORT * self._used[port.at] for name in (source, target) for port in self._ports[name]}
        found = [(used[one.source.at] + used[one.target.at] + one.off_centre + one.effort, one) for one in routes]
        return sorted(found, key=itemgetter(0))

    def _trouble(self, found: Route, source: str, target: str) -> float:
        """The cost of a route because of its collisions with boxes and other routes."""
        if found.way is None:
            found.way = self._way(found.curve, source, target)
        return _HIT * found.way.hits + _CROWDED * sum(self._crowd[cell] for cell in found.way.cells)

    def _way(self, curve: Curve, source: str, target: str) -> Way:
        points = curve.samples()
        inner = points[2:-2]
        around = bounds_of((), inner)
        hits = 0
        for name, wall in self._walls.items():
            box = self._boxes[name] if name in (source, target) else wall
            if around.overlaps(box):
                hits += sum(box.holds(point) for point in inner)
        return Way(hits, _cells_of(points))


def _routes_between(sources: Sequence[Port], targets: Sequence[Port]) -> list[Route]:
    ends = [(end, _legs(end)) for end in targets]
    found = []
    for start in sources:
        starts = _legs(start)
        for end, end_legs in ends:
            straight = hypot(start.at.x - end.at.x, start.at.y - end.at.y)
            off_centre = _OFF_CENTRE * (start.off_centre + end.off_centre)
            for bend in _bends_for(straight):
                first, second = starts[bend], end_legs[bend]
                curve = Curve(start.at, first.control, second.control, end.at)
                found.append(Route(start, end, curve, off_centre, _effort(first, second, straight)))
    return found


@cache
def _legs(port: Port) -> dict[float, CurveEnd]:
    """The possible ends of a curve at this port, one for each strength of the bend."""
    legs = {}
    for bend in _BENDS:
        control = port.at.along(port.out, bend)
        legs[bend] = CurveEnd(port, control, hypot(port.at.x - control.x, port.at.y - control.y))
    return legs


def _bends_for(straight: float) -> list[float]:
    widest_needed = min(_BEND_PART * straight, _BENDS[-1])
    return [bend for bend in _BENDS if bend >= widest_needed]


def _effort(first: CurveEnd, second: CurveEnd, straight: float) -> float:
    """The cost of a curve because of its length and its bends, computed from its control points."""
    between = hypot(first.control.x - second.control.x, first.control.y - second.control.y)
    way = fsum((first.length, between, second.length))
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
