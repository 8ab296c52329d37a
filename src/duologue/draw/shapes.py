"""Points, boxes and curves: the geometry of the pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

_STEPS = 40


class Point(NamedTuple):
    x: float
    y: float

    def along(self, direction: Point, length: float) -> Point:
        """The point that lies `length` away from this point in this direction. `direction` must be a unit vector."""
        return Point(self.x + direction.x * length, self.y + direction.y * length)


class Box(NamedTuple):
    """A rectangle, given by its top left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def centre(self) -> Point:
        return Point(self.x + self.width / 2, self.y + self.height / 2)

    def grown(self, by: float) -> Box:
        return Box(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)

    def moved(self, dx: float, dy: float) -> Box:
        return Box(self.x + dx, self.y + dy, self.width, self.height)

    def holds(self, point: Point) -> bool:
        return self.x < point.x < self.right and self.y < point.y < self.bottom

    def overlaps(self, other: Box) -> bool:
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom


def bounds_of(boxes: Iterable[Box], points: Iterable[Point] = ()) -> Box:
    """The smallest box around these boxes and points."""
    corners = [*points]
    for box in boxes:
        corners += [Point(box.x, box.y), Point(box.right, box.bottom)]
    left, top = min(corner.x for corner in corners), min(corner.y for corner in corners)
    right, bottom = max(corner.x for corner in corners), max(corner.y for corner in corners)
    return Box(left, top, right - left, bottom - top)


def _weights(t: float) -> tuple[float, float, float, float]:
    u = 1 - t
    return u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t


_WEIGHTS = tuple(_weights(step / _STEPS) for step in range(_STEPS + 1))


class Curve(NamedTuple):
    """A cubic Bézier curve from `start` to `end`. `first` and `second` are its control points."""

    start: Point
    first: Point
    second: Point
    end: Point

    def samples(self) -> list[Point]:
        """Points along the curve, both ends included."""
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = self
        return [Point(a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy) for a, b, c, d in _WEIGHTS]

    def moved(self, dx: float, dy: float) -> Curve:
        return Curve(*(Point(point.x + dx, point.y + dy) for point in self))
