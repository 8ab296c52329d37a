"""SVG elements of a picture: the rows behind a line, and its moves on hover."""

from __future__ import annotations

from xml.etree import ElementTree

from duologue.draw import Diagram, Edge, StateNode
from duologue.draw.picture import lay_out
from duologue.draw.svg_elements import paint, rows_between

DIAGRAM = Diagram(
    "two",
    (StateNode("a", start=True), StateNode("b", timed=True)),
    (Edge("a", "b", ("Go [may_go]",), rows=((4,),)), Edge("b", "a", ("Back",), rows=((7, 9),))),
)


def test_the_rows_of_all_moves_between_two_states_are_found() -> None:
    assert rows_between(DIAGRAM) == {("a", "b"): [4], ("b", "a"): [7, 9]}


def test_a_line_both_ways_lists_its_moves_and_their_rows() -> None:
    root = ElementTree.fromstring(f"<g>{''.join(paint(DIAGRAM, lay_out(DIAGRAM)))}</g>")
    (line,) = [group for group in root.iter("g") if group.get("data-rows") == "4 7 9"]
    assert line.findtext("title") == "a → b\n  Go [may_go]\nb → a\n  Back"
    assert [rect.get("data-name") for rect in root.iter("rect")] == ["a", "b"]
