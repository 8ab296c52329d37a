"""A diagram with its layout: boxes with their notes, and curves between the boxes.

Runs the steps of the layout: many moves to or from one state become a note, states get cells and sizes, and lines
become curves. Colours are defined elsewhere. Rule: everything that is drawn is inside the picture's bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .graph import Diagram, StateNode
from .grouped_moves import CrowdNote, DrawnLine, Gathered, gather, note_lines
from .layout import Cell, place
from .routes import route
from .shapes import Box, Curve, bounds_of
from .typography import FACES, text_width

NAME_HEIGHT = 34.0
NOTE_HEIGHT = 14.0
_PADDING = 14.0
_SIGN = 7.0  # extra width on each side, for the dot of a start state or the clock of a timed state


class Spacing(NamedTuple):
    """The free space between boxes."""

    across: float
    down: float


_CALM = Spacing(72, 52)
_BUSY = Spacing(88, 72)  # for pictures with many lines
_BUSY_LINES = 1.5  # a picture with more lines per state than this has many lines


class Stated(NamedTuple):
    """A state with its box and the notes below its name."""

    box: Box
    node: StateNode
    notes: tuple[tuple[CrowdNote, tuple[str, ...]], ...]


class Picture(NamedTuple):
    states: dict[str, Stated]
    lines: tuple[tuple[DrawnLine, Curve], ...]
    bounds: Box

    def moved(self, dx: float, dy: float) -> Picture:
        """The same picture, moved by `dx` and `dy`."""
        states = {name: stated._replace(box=stated.box.moved(dx, dy)) for name, stated in self.states.items()}
        lines = tuple((line, curve.moved(dx, dy)) for line, curve in self.lines)
        return Picture(states, lines, self.bounds.moved(dx, dy))


class Arrangement(NamedTuple):
    """Boxes that have positions, and lines that don't have curves yet."""

    states: dict[str, Stated]
    lines: tuple[DrawnLine, ...]

    @property
    def bounds(self) -> Box:
        return bounds_of(stated.box for stated in self.states.values())


def lay_out(diagram: Diagram) -> Picture:
    """Place every state and route every line."""
    return connect(arrange(diagram, _columns_for(len(diagram.nodes))))


def arrange(diagram: Diagram, columns: int, spacing: Spacing | None = None, brief: bool = False) -> Arrangement:
    """Give every state a position. If `brief` is true, the notes are shorter."""
    names = tuple(node.name for node in diagram.nodes)
    gathered = gather(diagram)
    rows = -(-len(names) // columns)
    cells = place(names, tuple((line.source, line.target) for line in gathered.lines), columns, rows)
    states = _sized(diagram, gathered, brief)
    calm = len(gathered.lines) <= _BUSY_LINES * len(names)
    boxes = _boxes(states, cells, spacing or (_CALM if calm else _BUSY))
    return Arrangement({name: states[name]._replace(box=boxes[name]) for name in names}, gathered.lines)


def connect(arrangement: Arrangement) -> Picture:
    """Find a curve for every line of an arrangement. The positions of the states don't change."""
    states, lines = arrangement
    boxes = {name: stated.box for name, stated in states.items()}
    curves = route(boxes, [(line.source, line.target) for line in lines])
    bounds = bounds_of(boxes.values(), (point for curve in curves for point in curve.samples()))
    return Picture(states, tuple(zip(lines, curves, strict=True)), bounds)


def _columns_for(count: int) -> int:
    return count if count <= 3 else 3 if count <= 6 else 4


def _sized(diagram: Diagram, gathered: Gathered, brief: bool) -> dict[str, Stated]:
    """Each state with a box that is large enough for its text. The boxes have no positions yet."""
    names = tuple(node.name for node in diagram.nodes)
    states = {}
    for node in diagram.nodes:
        notes = tuple((note, note_lines(note, names, brief)) for note in gathered.notes if note.at == node.name)
        texts = [text for _, lines in notes for text in lines]
        name_width = text_width(node.name, "name") + 2 * _SIGN * (node.start or node.timed)
        width = max([name_width, *(text_width(text, "note") for text in texts)]) + 2 * _PADDING
        height = NAME_HEIGHT + NOTE_HEIGHT * len(texts) + (4 if texts else 0)
        states[node.name] = Stated(Box(0, 0, round(width), height), node, notes)
    return states


def _boxes(states: dict[str, Stated], cells: dict[str, Cell], spacing: Spacing) -> dict[str, Box]:
    """The boxes at their positions. A column is as wide as its widest box, and a row is as high as its highest box."""
    widths = _largest(states, cells, 0, lambda box: box.width)
    heights = _largest(states, cells, 1, lambda box: box.height)
    lefts = _offsets(widths, spacing.across)
    tops = _offsets(heights, spacing.down)
    boxes = {}
    for name, (column, row) in cells.items():
        height = states[name].box.height
        top = tops[row] + (heights[row] - height) / 2
        boxes[name] = Box(lefts[column], top, widths[column], height)
    return boxes


def _largest(states: dict[str, Stated], cells: dict[str, Cell], axis: int, size: Callable[[Box], float]) -> list[float]:
    found = [0.0] * (1 + max(cell[axis] for cell in cells.values()))
    for name, cell in cells.items():
        found[cell[axis]] = max(found[cell[axis]], size(states[name].box))
    return found


def _offsets(sizes: list[float], gap: float) -> list[float]:
    offsets, at = [], 0.0
    for size in sizes:
        offsets.append(at)
        at += size + gap
    return offsets


def name_baseline(stated: Stated) -> float:
    """The y position of the baseline of a state's name. The name is in the middle of the box or, if there are notes,
    above them."""
    box = stated.box
    middle = box.y + (NAME_HEIGHT / 2 + 1 if stated.notes else box.height / 2)
    return middle + FACES["name"].size * 0.35
