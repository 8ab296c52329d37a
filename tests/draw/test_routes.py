"""Curves between boxes avoid other boxes, and meet their own at a right angle."""

from __future__ import annotations

from duologue.draw.routes import route
from duologue.draw.shapes import Box, Point

BOXES = {"a": Box(0, 0, 80, 30), "b": Box(160, 0, 80, 30), "c": Box(320, 0, 80, 30)}


def on_edge(box: Box, point: Point) -> bool:
    return box.grown(0.01).holds(point) and not box.grown(-0.01).holds(point)


def test_a_curve_leads_from_box_to_box_at_right_angles() -> None:
    (curve,) = route(BOXES, [("a", "b")])
    assert on_edge(BOXES["a"], curve.start)
    assert on_edge(BOXES["b"], curve.end)
    for point, control in ((curve.start, curve.first), (curve.end, curve.second)):
        assert point.x == control.x or point.y == control.y


def test_a_curve_goes_around_a_box_in_between() -> None:
    (curve,) = route(BOXES, [("a", "c")])
    assert not any(BOXES["b"].holds(point) for point in curve.samples())


def test_two_lines_between_the_same_boxes_do_not_share_a_port() -> None:
    there, back = route(BOXES, [("a", "b"), ("b", "a")])
    assert not {there.start, there.end} & {back.start, back.end}
