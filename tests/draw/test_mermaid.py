"""Mermaid text is read by a foreign parser, so every line must have a form that it accepts."""

from __future__ import annotations

import re

import pytest

from duologue.core.views import VIEWS
from duologue.draw import REGIONS, Diagram, Edge, StateNode, machine_mermaid, names, region_diagram, render, to_mermaid
from duologue.draw.render import diagram_of

TEXT = r"(?:[^:;\#{}\"<>%]|(?<=\w):(?=\w)|\#\d+;|<br/>)+"
FORMS = re.compile(
    rf"""stateDiagram-v2
    | \s+ state \s "{TEXT}" \s as \s [A-Za-z]\w* (?:\s \{{)?
    | \s+ \[\*\] \s --> \s [A-Za-z]\w*
    | \s+ [A-Za-z]\w* \s --> \s [A-Za-z]\w* (?:\s : \s {TEXT})?
    | \s+ --
    | \s+ \}}""",
    re.VERBOSE,
)
DECLARED = re.compile(r'state "(.+)" as (\w+)')
MOVE = re.compile(r"^\s+(\w+) --> (\w+)(?: : (.*))?$", re.MULTILINE)
NASTY = 'end: "a"; --> {b} %% #35; <i>'

each_diagram = pytest.mark.parametrize("name", [*REGIONS, *VIEWS])


def lines_of(text: str) -> list[str]:
    head, _, body = text.rpartition("---\n")
    assert head == "" or re.fullmatch(r'---\ntitle: ".*"\n', head)
    return body.splitlines()


@pytest.mark.parametrize("name", names())
def test_every_line_is_valid_mermaid(name: str) -> None:
    lines = lines_of(render(name, "mermaid"))
    assert lines[0] == "stateDiagram-v2"
    assert [line for line in lines if not FORMS.fullmatch(line)] == []


@each_diagram
def test_every_state_and_every_move_is_written_once(name: str) -> None:
    diagram = diagram_of(name)
    text = to_mermaid(diagram)
    named = {known_as: state for state, known_as in DECLARED.findall(text)}
    assert list(named.values()) == [node.name for node in diagram.nodes]
    moves = [(named[source], named[target]) for source, target, _ in MOVE.findall(text)]
    assert len(moves) == len(set(moves))
    assert set(moves) == {(edge.source, edge.target) for edge in diagram.edges}


@each_diagram
def test_a_move_is_marked_as_amended_if_and_only_if_it_is(name: str) -> None:
    diagram = diagram_of(name)
    marked = {(source, target) for source, target, label in MOVE.findall(to_mermaid(diagram)) if "(amended)" in label}
    assert marked == {(edge.source, edge.target) for edge in diagram.edges if edge.kind == "amended"}


@each_diagram
def test_the_start_is_marked(name: str) -> None:
    diagram = diagram_of(name)
    assert f"[*] --> {next(node.name for node in diagram.nodes if node.start)}" in to_mermaid(diagram)


def test_labels_list_their_reasons_one_below_the_other() -> None:
    diagram = Diagram(
        "two", (StateNode("a", True), StateNode("b")), (Edge("a", "b", ("Came, timer:beat [ok]", "Went")),)
    )
    assert "a --> b : Came, timer:beat [ok]<br/>Went" in to_mermaid(diagram)


def test_nothing_in_a_name_or_label_can_break_the_diagram() -> None:
    nodes = (StateNode(NASTY, True), StateNode("end"), StateNode("a b"), StateNode("a_b"), StateNode("1"))
    edges = (Edge(NASTY, "end", (NASTY,)), Edge("a b", "a_b", ("new\nline",), "amended"))
    lines = lines_of(to_mermaid(Diagram(NASTY, nodes, edges)))
    assert [line for line in lines if not FORMS.fullmatch(line)] == []
    ids = [known_as for _, known_as in DECLARED.findall("\n".join(lines))]
    assert len(set(ids)) == len(nodes)
    assert "end" not in ids


def test_the_machine_contains_every_region() -> None:
    text = machine_mermaid()
    assert text.count("\n        --\n") == len(REGIONS) - 1
    assert text.count("{") == text.count("}") == len(REGIONS) + 1
    for name, region in REGIONS.items():
        for edge in region_diagram(region).edges:
            assert f" {name}_{edge.source} --> {name}_{edge.target}\n" in text
