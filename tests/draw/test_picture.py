"""A laid-out diagram: boxes that don't overlap, and everything within the bounds."""

from __future__ import annotations

from itertools import combinations

import pytest

from duologue.draw import REGIONS, region_diagram
from duologue.draw.picture import lay_out


@pytest.mark.parametrize("region", list(REGIONS))
def test_every_state_has_a_box_and_everything_is_within_the_bounds(region: str) -> None:
    diagram = region_diagram(REGIONS[region])
    picture = lay_out(diagram)
    assert set(picture.states) == {node.name for node in diagram.nodes}
    boxes = [stated.box for stated in picture.states.values()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    room = picture.bounds.grown(0.01)
    assert all(room.holds(point) for _, curve in picture.lines for point in curve.samples())


def test_a_shifted_picture_keeps_its_shape() -> None:
    picture = lay_out(region_diagram(REGIONS["user"]))
    shifted = picture.moved(100, 50)
    assert shifted.bounds == picture.bounds.moved(100, 50)
    assert {name: stated.box.moved(-100, -50) for name, stated in shifted.states.items()} == {
        name: stated.box for name, stated in picture.states.items()
    }
