"""Replaces many moves to or from the same state by a line of text, so that a diagram stays readable.

For example, if almost every state leads to one state, the box of that state says "from any but idle". The arrows from
the other states to it are then not drawn. Rule: every move is either drawn as a line or included in such a note.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .graph import Diagram, Edge, MoveKind

_CROWD_MIN = 4
_MISSING_MAX = 2
_NOTE_CHARS = 26


class CrowdNote(NamedTuple):
    """Many moves that lead to one state, or away from it. They are written as text into the box of that state."""

    at: str
    incoming: bool
    edges: tuple[Edge, ...]
    kind: MoveKind

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(edge.source if self.incoming else edge.target for edge in self.edges)


class DrawnLine(NamedTuple):
    """One line of the drawing. It stands for a move, or for two opposite moves of the same kind."""

    source: str
    target: str
    kind: MoveKind
    both_ways: bool


class Gathered(NamedTuple):
    """The moves of a diagram, divided into notes (text) and lines."""

    notes: tuple[CrowdNote, ...]
    lines: tuple[DrawnLine, ...]


def gather(diagram: Diagram) -> Gathered:
    """Divide the moves of a diagram into notes and lines. If several moves have the same source and target but
    different kinds, only the one that comes first in the diagram is drawn."""
    edges = _without_repeats(edge for edge in diagram.edges if not edge.is_loop)
    crowd = max(_CROWD_MIN, len(diagram.nodes) // 2 + 1)
    notes: list[CrowdNote] = []
    while True:
        found = max(_possible_notes(diagram, edges), key=lambda note: len(note.edges), default=None)
        if found is None or len(found.edges) < crowd:
            return Gathered(tuple(notes), _lines(edges))
        notes.append(found)
        edges = [edge for edge in edges if edge not in found.edges]


def _without_repeats(edges: Iterable[Edge]) -> list[Edge]:
    found: dict[tuple[str, str], Edge] = {}
    for edge in edges:
        found.setdefault((edge.source, edge.target), edge)
    return list(found.values())


def _possible_notes(diagram: Diagram, edges: list[Edge]) -> list[CrowdNote]:
    """All notes that could be made. Notes about incoming moves come first, so of two notes with the same number of
    moves, the one about incoming moves is chosen. The reason is that "from any" says more about a state than "to
    any"."""
    kinds = list(dict.fromkeys(edge.kind for edge in edges))
    return [
        CrowdNote(node.name, incoming, found, kind)
        for incoming in (True, False)
        for kind in kinds
        for node in diagram.nodes
        if (found := _crowd_at(edges, node.name, incoming, kind))
    ]


def _crowd_at(edges: list[Edge], name: str, incoming: bool, kind: MoveKind) -> tuple[Edge, ...]:
    return tuple(edge for edge in edges if edge.kind == kind and (edge.target if incoming else edge.source) == name)


def _lines(edges: list[Edge]) -> tuple[DrawnLine, ...]:
    moves = {(edge.source, edge.target): edge.kind for edge in edges}
    lines = []
    for (source, target), kind in moves.items():
        both_ways = moves.get((target, source)) == kind
        if both_ways and list(moves).index((target, source)) < list(moves).index((source, target)):
            continue  # this move is drawn together with its opposite
        lines.append(DrawnLine(source, target, kind, both_ways))
    return tuple(lines)


def note_lines(note: CrowdNote, names: tuple[str, ...], brief: bool = False) -> tuple[str, ...]:
    """The text of a note, as lines that fit into a box. If `brief` is true, the note says how many states there are
    instead of naming them."""
    missing = [name for name in names if name not in note.others and name != note.at]
    if not missing:
        words = ["any", "other"] if brief else ["any", "other", "state"]
    elif brief:
        words = [str(len(note.others)), "states"]
    elif len(missing) <= _MISSING_MAX:
        words = ["any", "but", *_listed(missing)]
    else:
        words = _listed([name for name in names if name in note.others])
    direction = "from" if note.incoming else "to"
    prefix = ["amended:"] if note.kind == "amended" else []
    return _wrapped([*prefix, direction, *words])


def _listed(names: list[str]) -> list[str]:
    return [f"{name}," for name in names[:-1]] + names[-1:]


def _wrapped(words: list[str]) -> tuple[str, ...]:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _NOTE_CHARS:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return tuple(lines)
