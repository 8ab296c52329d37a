"""Pictures contain everything, nothing in them collides, and they are self-contained."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from duologue.core.machine import MACHINE
from duologue.core.views import VIEWS
from duologue.draw import REGIONS, Diagram, Edge, StateNode, to_svg
from duologue.draw.grouped_moves import gather, note_lines
from duologue.draw.render import diagram_of
from duologue.draw.shapes import Box
from tests.draw.svg_reading import (
    SVG,
    contains,
    curves,
    each_diagram,
    each_picture,
    picture,
    source,
    state_boxes,
    text_box,
    text_boxes,
)


@each_picture
def test_no_two_states_overlap(name: str) -> None:
    boxes = state_boxes(picture(name))
    assert [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)] == []


@each_picture
def test_a_text_is_inside_a_state_or_clear_of_all_states(name: str) -> None:
    root = picture(name)
    for content, box in text_boxes(root):
        for state, around in state_boxes(root):
            assert contains(around, box) or not around.overlaps(box), (content, state)


@each_picture
def test_no_two_texts_overlap(name: str) -> None:
    """Slanted ones run in parallel, each on its own track, and are left out."""
    upright = [text for text in picture(name).iter(f"{SVG}text") if not text.get("transform")]
    boxes = [(text.text, text_box(text)) for text in upright]
    assert [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)] == []


@each_picture
def test_no_line_runs_through_a_state(name: str) -> None:
    root = picture(name)
    for curve in curves(root):
        for state, box in state_boxes(root):
            assert not any(box.grown(-1).holds(point) for point in curve.samples()), state


@each_picture
def test_everything_is_within_the_picture(name: str) -> None:
    root = picture(name)
    paper = Box(*(float(number) for number in root.get("viewBox", "").split()))
    for content, box in [*state_boxes(root), *text_boxes(root)]:
        assert contains(paper, box), content
    for curve in curves(root):
        assert all(paper.holds(point) for point in curve.samples())


@each_diagram
def test_every_state_has_a_box_with_its_name(name: str) -> None:
    root = picture(name)
    boxes, texts = state_boxes(root), text_boxes(root)
    assert sorted(state for state, _ in boxes) == sorted(node.name for node in diagram_of(name).nodes)
    for state, around in boxes:
        assert any(content == state and contains(around, box) for content, box in texts)


@each_diagram
def test_every_move_is_a_line_or_in_the_note_of_a_state(name: str) -> None:
    diagram, root = diagram_of(name), picture(name)
    titles = {line for title in root.iter(f"{SVG}title") for line in (title.text or "").splitlines()}
    states = tuple(node.name for node in diagram.nodes)
    texts, boxes = text_boxes(root), dict(state_boxes(root))
    noted = set()
    for note in gather(diagram).notes:
        lines = [content for content, box in texts if contains(boxes[note.at], box)]
        assert set(note_lines(note, states)) <= set(lines)
        noted |= {(edge.source, edge.target) for edge in note.edges}
    for edge in diagram.edges:
        assert (edge.source, edge.target) in noted or f"{edge.source} → {edge.target}" in titles


@pytest.mark.parametrize("name", VIEWS)
def test_amended_moves_are_dashed_and_the_others_are_not(name: str) -> None:
    classes: dict[str, str | None] = {}
    for group in picture(name).iter(f"{SVG}g"):
        title, path = group.find(f"{SVG}title"), group.find(f"{SVG}path")
        if title is not None and path is not None:
            classes.setdefault((title.text or "").split("\n")[0], path.get("class"))
    for line in gather(diagram_of(name)).lines:
        assert classes[f"{line.source} → {line.target}"] == f"line {line.kind}"
    assert ".line.amended { stroke-dasharray:" in source(name)
    assert ".line.source { stroke-dasharray:" not in source(name)


def test_a_single_state_is_a_picture_too() -> None:
    root = ElementTree.fromstring(to_svg(Diagram("alone", (StateNode("only", True),), ())))
    assert [state for state, _ in state_boxes(root)] == ["only"]


def test_names_and_labels_may_contain_anything() -> None:
    nasty = "<a href=\"x\"> & 'b'"
    diagram = Diagram(nasty, (StateNode(nasty, True), StateNode("b")), (Edge(nasty, "b", (nasty,)),), about=nasty)
    root = ElementTree.fromstring(to_svg(diagram))
    assert nasty in [state for state, _ in state_boxes(root)]


@each_picture
def test_a_picture_is_self_contained_described_and_has_both_colour_schemes(name: str) -> None:
    text, root = source(name), picture(name)
    assert [child.tag for child in root][:3] == [f"{SVG}title", f"{SVG}desc", f"{SVG}style"]
    assert all(root[index].text for index in range(3))
    assert "@media (prefers-color-scheme: dark)" in text
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]
    assert not {element.tag for element in root.iter()} & {f"{SVG}image", f"{SVG}script", f"{SVG}use"}


@each_picture
def test_every_class_has_a_colour_in_both_schemes(name: str) -> None:
    text, root = source(name), picture(name)
    day, _, night = root.findtext(f"{SVG}style", "").partition("@media")
    drawn = [element for element in root.iter() if element.tag in (f"{SVG}text", f"{SVG}rect")]
    used = {element.get("class", "").split()[0] for element in drawn}
    for scheme in (day, night):
        assert [face for face in sorted(used) if not re.search(rf"\.{face}\b[^{{]*{{ (fill|stroke): #", scheme)] == []
    assert " style=" not in text
    assert " fill=" not in text


def test_every_row_that_moves_a_region_can_be_found_in_its_picture() -> None:
    for name, region in REGIONS.items():
        drawn = {int(number) for ids in re.findall(r'data-rows="([^"]+)"', source(name)) for number in ids.split()}
        moving = {
            number
            for number, row in enumerate(MACHINE.rows)
            if isinstance(row.sources[0], region) and row.target and row.sources != (row.target,)
        }
        assert moving <= drawn
        assert {-1 - number for number in range(len(MACHINE.rules))} >= {number for number in drawn if number < 0}
