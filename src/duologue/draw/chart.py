"""A chart of the reasons for moves. Each line of the chart is one reason: it has dots at the source states, and an
arrow to the target state.

The picture above the chart shows moves without their reasons. The chart lists every reason: the trigger and guard of a
row, a rule, or why a view's table was amended. The columns of the chart are states, and its lines are grouped by target
state. Rule: each reason has one line.
"""

from __future__ import annotations

from math import fsum  # the same result in every Python
from typing import NamedTuple

from . import typography
from .graph import Diagram, MoveKind
from .shapes import Box, Point

_TRACK = 26.0
_LINE_HEIGHT = 15.0
_ENTRY_PADDING = 7.0
_GAP = 18.0
_LABEL_CHARS = 68
_INDENT = 12.0  # how far the second and later lines of a label are indented
_SLANT = -52
_SLANT_RISE = 0.79  # sine of the slant
_SLANT_RUN = 0.62


class ChartEntry(NamedTuple):
    """One line of the chart: a reason for moves, with the source states and the target state."""

    target: str
    label: tuple[str, ...]
    kind: MoveKind
    sources: tuple[str, ...]
    rows: tuple[int, ...] = ()

    @property
    def height(self) -> float:
        return len(self.label) * _LINE_HEIGHT + _ENTRY_PADDING

    @property
    def face(self) -> str:
        """The typeface of the label. Event names are shown as code, and the reasons for amendments as ordinary text."""
        return "reason" if self.kind == "amended" else "label"


class Chart(NamedTuple):
    """A chart and its size. The method `paint` draws it."""

    names: tuple[str, ...]
    entries: tuple[ChartEntry, ...]
    tracks_width: float
    target_width: float
    width: float
    head: float
    height: float

    def paint(self, at: Point) -> list[str]:
        tracks = {name: at.x + _TRACK * (number + 0.5) for number, name in enumerate(self.names)}
        top, bottom = at.y + self.head, at.y + self.height
        body: list[str] = []
        body += self._paint_stripes(at)
        for name, x in tracks.items():
            body.append(typography.straight(Point(x, top - 4), Point(x, bottom), "track"))
            body.append(typography.text(Point(x + 3, top - 10), name, "column", turn=_SLANT))
        y, last = top, ""
        for entry in self.entries:
            body += _paint_bus(entry, tracks, y + entry.height / 2)
            body += self._paint_words(entry, at.x, y, entry.target != last)
            y, last = y + entry.height, entry.target
        return body

    def _paint_stripes(self, at: Point) -> list[str]:
        """Draws a tinted background behind the lines of every second target state."""
        stripes = []
        y, tinted = at.y + self.head, False
        for number, entry in enumerate(self.entries):
            tinted = tinted if number and self.entries[number - 1].target == entry.target else not tinted
            if tinted:
                stripes.append(typography.rect(Box(at.x - 8, y, self.width + 16, entry.height), "stripe"))
            y += entry.height
        return stripes

    def _paint_words(self, entry: ChartEntry, left: float, y: float, is_first: bool) -> list[str]:
        x = left + self.tracks_width + _GAP
        baseline = y + _ENTRY_PADDING / 2 + _LINE_HEIGHT * 0.75
        body = [typography.text(Point(x, baseline), f"→ {entry.target}", "name")] if is_first else []
        x += self.target_width + _GAP
        for number, line in enumerate(entry.label):
            place = Point(x + (_INDENT if number else 0), baseline + number * _LINE_HEIGHT)
            body.append(typography.text(place, line, entry.face, also=entry.kind, rows=entry.rows))
        return body


def chart_of(diagram: Diagram) -> Chart | None:
    """The chart of all reasons in a diagram; None if no move has a reason."""
    entries = _entries(diagram)
    if not entries:
        return None
    names = tuple(node.name for node in diagram.nodes)
    longest = max(typography.text_width(name, "column") for name in names)
    overhang = typography.text_width(names[-1], "column") * _SLANT_RUN
    tracks = _TRACK * len(names)
    target = max(typography.text_width(f"→ {entry.target}", "name") for entry in entries)
    label = _INDENT + max(typography.text_width(line, entry.face) for entry in entries for line in entry.label)
    head = longest * _SLANT_RISE + 22
    width = max(tracks + target + label + 2 * _GAP, tracks + overhang)
    return Chart(names, entries, tracks, target, width, head, head + fsum(entry.height for entry in entries))


def _entries(diagram: Diagram) -> tuple[ChartEntry, ...]:
    found: dict[tuple[str, str, MoveKind], tuple[list[str], list[int]]] = {}
    for edge in diagram.edges:
        for number, label in enumerate(edge.labels):
            sources, rows = found.setdefault((edge.target, label, edge.kind), ([], []))
            sources.append(edge.source)
            rows.extend(edge.rows[number] if edge.rows else ())
    order = {node.name: number for number, node in enumerate(diagram.nodes)}
    entries = [
        ChartEntry(target, _wrapped(label), kind, tuple(sorted(sources, key=lambda name: order[name])), tuple(rows))
        for (target, label, kind), (sources, rows) in found.items()
    ]
    return tuple(sorted(entries, key=lambda entry: order[entry.target]))


def _wrapped(label: str) -> tuple[str, ...]:
    lines = [""]
    for word in label.split():
        if len(lines[-1]) + 1 + len(word) > _LABEL_CHARS:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return tuple(lines)


def _paint_bus(entry: ChartEntry, tracks: dict[str, float], y: float) -> list[str]:
    """Draws one reason: a dot for each source state, and a line from the sources to the target. If there are sources on
    both sides of the target, an arrow head points at it from each side."""
    goal = tracks[entry.target]
    places = [tracks[source] for source in entry.sources]
    body = [
        f'<g class="{entry.kind}"{typography.rows_of(entry.rows)}>',
        typography.title(f"{', '.join(entry.sources)} → {entry.target}"),
    ]
    for side in (-1, 1):
        ends = [x for x in places if (x - goal) * side > 0]
        if ends:
            furthest = max(ends, key=lambda x: abs(x - goal))
            body.append(typography.straight(Point(furthest, y), Point(goal + side * 6, y), "bus"))
            body.append(typography.arrow_head(Point(goal + side, y), Point(side, 0), "dot head", 8.5))
    body += [typography.circle(Point(x, y), 3.4, "dot") for x in places]
    return [*body, "</g>"]
