"""Points, boxes and curves."""

from __future__ import annotations

from duologue.draw.shapes import Box, Curve, Point, bounds_of


def test_a_box_knows_its_edges_and_what_it_holds() -> None:
    box = Box(10, 20, 30, 40)
    assert (box.right, box.bottom, box.centre) == (40, 60, Point(25, 40))
    assert box.holds(Point(11, 21))
    assert not box.holds(Point(10, 20)), "its edge is outside"
    assert box.grown(5) == Box(5, 15, 40, 50)
    assert box.moved(1, -1) == Box(11, 19, 30, 40)


def test_boxes_that_only_touch_do_not_overlap() -> None:
    assert Box(0, 0, 10, 10).overlaps(Box(9, 9, 5, 5))
    assert not Box(0, 0, 10, 10).overlaps(Box(10, 0, 5, 5))


def test_bounds_contain_all_boxes_and_points() -> None:
    assert bounds_of([Box(0, 0, 10, 10), Box(20, 5, 5, 20)], [Point(-3, 40)]) == Box(-3, 0, 28, 40)


def test_a_curve_begins_and_ends_where_it_should() -> None:
    curve = Curve(Point(0, 0), Point(0, 10), Point(10, 10), Point(10, 0))
    points = curve.samples()
    assert (points[0], points[-1]) == (curve.start, curve.end)
    assert points[len(points) // 2] == Point(5.0, 7.5)
    assert curve.moved(1, 2).end == Point(11, 2)
