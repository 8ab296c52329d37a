"""Crowds of moves become notes, and opposite moves share a line."""

from __future__ import annotations

from duologue.draw import Diagram, Edge, StateNode
from duologue.draw.grouped_moves import gather, note_lines


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
