"""Pictures are checked as pictures: what is in them, that nothing collides, that they stand alone."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import combinations
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from duologue.core.machine import MACHINE
from duologue.core.views import VIEWS
from duologue.draw import REGIONS, Diagram, Edge, StateNode, names, region_diagram, render, to_svg
from duologue.draw.grouped_moves import gather, note_lines
from duologue.draw.render import diagram_of
from duologue.draw.shapes import Box, Curve, Point
from duologue.draw.typography import FACES, text_width

SVG = "{http://www.w3.org/2000/svg}"

each_picture = pytest.mark.parametrize("name", names())
each_diagram = pytest.mark.parametrize("name", [*REGIONS, *VIEWS])


@cache
def source(name: str) -> str:
    return render(name, "svg")


@cache
def picture(name: str) -> Element:
    return ElementTree.fromstring(source(name))


def state_boxes(root: Element) -> list[tuple[str, Box]]:
    return [(rect.get("data-name", ""), rect_box(rect)) for rect in root.iter(f"{SVG}rect") if rect.get("data-name")]


def rect_box(rect: Element) -> Box:
    return Box(*(float(rect.get(key, "")) for key in ("x", "y", "width", "height")))


def text_boxes(root: Element) -> list[tuple[str, Box]]:
    return [(text.text or "", text_box(text)) for text in root.iter(f"{SVG}text")]


def text_box(text: Element) -> Box:
    """The room of a text; of a slanted one, the upright room around it."""
    face = text.get("class", "").split()[0]
    width, size = text_width(text.text or "", face), FACES[face].size
    x, y = float(text.get("x", "")), float(text.get("y", ""))
    slant = re.match(r"rotate\((-?\d+)", text.get("transform", ""))
    if slant:
        angle = math.radians(-int(slant[1]))
        rise = width * math.sin(angle) + size * math.cos(angle)
        return Box(x - size * math.sin(angle), y - rise, width * math.cos(angle) + size * math.sin(angle), rise)
    left = x - width / 2 if text.get("text-anchor") == "middle" else x
    return Box(left, y - size * 0.8, width, size)


def curves(root: Element) -> list[Curve]:
    paths = [path.get("d", "") for path in root.iter(f"{SVG}path") if "line" in path.get("class", "").split()]
    numbers = [[float(number) for number in re.findall(r"-?[\d.]+", path)] for path in paths]
    return [Curve(*(Point(*found[at : at + 2]) for at in (0, 2, 4, 6))) for found in numbers]


def contains(outer: Box, inner: Box) -> bool:
    return outer.x <= inner.x and outer.y <= inner.y and inner.right <= outer.right and inner.bottom <= outer.bottom


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
    """Slanted ones run in parallel, each on a track of its own, and are left out."""
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
    told = {line for title in root.iter(f"{SVG}title") for line in (title.text or "").splitlines()}
    states = tuple(node.name for node in diagram.nodes)
    texts, boxes = text_boxes(root), dict(state_boxes(root))
    noted = set()
    for note in gather(diagram).notes:
        lines = [content for content, box in texts if contains(boxes[note.at], box)]
        assert set(note_lines(note, states)) <= set(lines)
        noted |= {(edge.source, edge.target) for edge in note.edges}
    for edge in diagram.edges:
        assert (edge.source, edge.target) in noted or f"{edge.source} → {edge.target}" in told


@each_diagram
def test_every_reason_is_written_out(name: str) -> None:
    words = " ".join(content for content, _ in text_boxes(picture(name)))
    assert [label for edge in diagram_of(name).edges for label in edge.labels if label not in words] == []


@pytest.mark.parametrize("name", VIEWS)
def test_amended_moves_are_dashed_and_the_others_are_not(name: str) -> None:
    told: dict[str, str | None] = {}
    for group in picture(name).iter(f"{SVG}g"):
        title, path = group.find(f"{SVG}title"), group.find(f"{SVG}path")
        if title is not None and path is not None:
            told.setdefault((title.text or "").split("\n")[0], path.get("class"))
    for line in gather(diagram_of(name)).lines:
        assert told[f"{line.source} → {line.target}"] == f"line {line.kind}"
    assert ".line.amended { stroke-dasharray:" in source(name)
    assert ".line.source { stroke-dasharray:" not in source(name)


def test_a_crowd_of_moves_becomes_a_note_that_names_the_exceptions() -> None:
    nodes = tuple(StateNode(name, name == "a") for name in "abcdefg")
    edges = (*(Edge(name, "g") for name in "bcdef"), Edge("a", "b"))
    (note,) = gather(Diagram("crowd", nodes, edges)).notes
    assert (note.at, note.others) == ("g", tuple("bcdef"))
    assert note_lines(note, tuple("abcdefg")) == ("from any but a",)
    assert note_lines(note, tuple("abcdefg"), brief=True) == ("from 5 states",)


def test_opposite_moves_share_one_line_only_if_they_are_of_one_kind() -> None:
    nodes = (StateNode("a", True), StateNode("b"), StateNode("c"))
    edges = (Edge("a", "b"), Edge("b", "a"), Edge("b", "c"), Edge("c", "b", kind="amended"))
    lines = gather(Diagram("pairs", nodes, edges)).lines
    assert [(line.source, line.target, line.both_ways) for line in lines] == [
        ("a", "b", True),
        ("b", "c", False),
        ("c", "b", False),
    ]


def test_a_single_state_is_a_picture_too() -> None:
    root = ElementTree.fromstring(to_svg(Diagram("alone", (StateNode("only", True),), ())))
    assert [state for state, _ in state_boxes(root)] == ["only"]


def test_names_and_labels_may_contain_anything() -> None:
    nasty = "<a href=\"x\"> & 'b'"
    diagram = Diagram(nasty, (StateNode(nasty, True), StateNode("b")), (Edge(nasty, "b", (nasty,)),), about=nasty)
    root = ElementTree.fromstring(to_svg(diagram))
    assert nasty in [state for state, _ in state_boxes(root)]


def test_loops_are_listed_when_requested() -> None:
    for region in REGIONS.values():
        diagram = region_diagram(region, loops=True)
        words = " ".join(content for content, _ in text_boxes(ElementTree.fromstring(to_svg(diagram))))
        assert all(label in words for edge in diagram.edges if edge.is_loop for label in edge.labels)


def test_the_machine_shows_every_region_with_its_states_and_every_rule_with_its_reason() -> None:
    root = picture("machine")
    words = " ".join(content for content, _ in text_boxes(root))
    assert all(name in words for name in REGIONS)
    states = sorted(leaf.value for region in REGIONS.values() for leaf in region)
    assert sorted(state for state, _ in state_boxes(root)) == states
    for rule in MACHINE.rules:
        assert rule.name in words
        assert rule.why in words


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
