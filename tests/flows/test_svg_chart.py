"""Flow charts as SVG."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from duologue.flows import read_flows
from duologue.flows.drawing import draw_flows

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = [ROOT / "examples" / f"{name}.yaml" for name in ("flights", "table", "transfer", "support")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_drawn_as_svg(path: Path) -> None:
    file = read_flows(path)
    drawn = draw_flows(file, format="svg")
    root = ElementTree.fromstring(drawn)
    text = " ".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text"))
    for name, flow in file.domain.flows.items():
        assert name in text
        assert all(slot in text for slot in flow.slots)
    assert all(action in text for action in file.actions)
    assert drawn == draw_flows(read_flows(path), format="svg"), "the same file, the same bytes"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_boxes_are_on_the_page_and_do_not_overlap(path: Path) -> None:
    root = ElementTree.fromstring(draw_flows(read_flows(path), format="svg"))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = [
        tuple(float(element.attrib[key]) for key in ("x", "y", "width", "height"))
        for element in root.iter("{http://www.w3.org/2000/svg}rect")
        if "state" in element.attrib["class"]
    ]
    assert boxes
    for number, (x, y, wide, high) in enumerate(boxes):
        assert x >= 0
        assert y >= 0
        assert x + wide <= width
        assert y + high <= height
        for ox, oy, owide, ohigh in boxes[number + 1 :]:
            assert x + wide <= ox or ox + owide <= x or y + high <= oy or oy + ohigh <= y
