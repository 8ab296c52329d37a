"""The chart below a picture lists every reason of a move."""

from __future__ import annotations

from xml.etree import ElementTree

from duologue.draw import REGIONS, region_diagram, to_svg
from duologue.draw.render import diagram_of
from tests.draw.svg_reading import (
    each_diagram,
    picture,
    text_boxes,
)


@each_diagram
def test_every_reason_is_written_out(name: str) -> None:
    words = " ".join(content for content, _ in text_boxes(picture(name)))
    assert [label for edge in diagram_of(name).edges for label in edge.labels if label not in words] == []


def test_loops_are_listed_when_requested() -> None:
    for region in REGIONS.values():
        diagram = region_diagram(region, loops=True)
        words = " ".join(content for content, _ in text_boxes(ElementTree.fromstring(to_svg(diagram))))
        assert all(label in words for edge in diagram.edges if edge.is_loop for label in edge.labels)
