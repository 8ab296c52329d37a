"""Turns a picture into SVG elements. Lines are drawn first, so that boxes and text are drawn over them."""

from __future__ import annotations

from typing import TypeAlias

from . import typography
from .graph import Diagram
from .grouped_moves import DrawnLine
from .picture import NAME_HEIGHT, NOTE_HEIGHT, Picture, Stated, name_baseline
from .shapes import Curve, Point

_Rows: TypeAlias = dict[tuple[str, str], list[int]]

_HEAD = 8.0
_SIGN = 13.0  # the distance of a sign from the edge of its box


def paint(diagram: Diagram, picture: Picture) -> list[str]:
    """The SVG elements of one picture. Each line has a title, which lists its moves and is shown when the mouse is over
    the line."""
    labels = {(edge.source, edge.target): edge.labels for edge in reversed(diagram.edges)}
    rows = rows_between(diagram)
    body = [element for line, curve in picture.lines for element in _paint_line(line, curve, labels, rows)]
    for name, stated in picture.states.items():
        body += _paint_state(name, stated, rows)
    return body


def rows_between(diagram: Diagram) -> _Rows:
    """For each pair of source and target, the ids of all rows and rules that lead from the source to the target."""
    found: dict[tuple[str, str], list[int]] = {}
    for edge in diagram.edges:
        found.setdefault((edge.source, edge.target), []).extend(number for ids in edge.rows for number in ids)
    return found


def _paint_line(
    line: DrawnLine, curve: Curve, labels: dict[tuple[str, str], tuple[str, ...]], rows: _Rows
) -> list[str]:
    moves = [(line.source, line.target)] + [(line.target, line.source)] * line.both_ways
    moves_text = "\n".join(
        f"{source} → {target}" + "".join(f"\n  {label}" for label in labels.get((source, target), ()))
        for source, target in moves
    )
    out, back = _direction(curve.start, curve.first), _direction(curve.end, curve.second)
    start = curve.start.along(out, _HEAD - 2) if line.both_ways else curve.start
    trimmed = Curve(start, curve.first, curve.second, curve.end.along(back, _HEAD - 2))
    ids = [rows.get(move, []) for move in moves]
    heads = [typography.arrow_head(curve.end, back, f"arrow {line.kind}", rows=ids[0])]
    if line.both_ways:
        heads.append(typography.arrow_head(curve.start, out, f"arrow {line.kind}", rows=ids[1]))
    group = f"<g{typography.rows_of(number for numbers in ids for number in numbers)}>"
    return [group, typography.title(moves_text), typography.curve_path(trimmed, f"line {line.kind}"), *heads, "</g>"]


def _direction(start: Point, towards: Point) -> Point:
    dx, dy = towards.x - start.x, towards.y - start.y
    length = (dx * dx + dy * dy) ** 0.5
    return Point(dx / length, dy / length)


def _paint_state(name: str, stated: Stated, rows: _Rows) -> list[str]:
    box, node = stated.box, stated.node
    baseline = name_baseline(stated)
    body = [typography.rect(box, "state start" if node.start else "state", 9, title=name)]
    if node.start:
        body.append(typography.circle(Point(box.x + _SIGN, baseline - 4.5), 3.2, "dot"))
    if node.timed:
        body.append(typography.clock(Point(box.right - _SIGN, baseline - 4.5)))
    body.append(typography.text(Point(box.centre.x, baseline), name, "name", "middle"))
    y = box.y + NAME_HEIGHT + 4
    for note, lines in stated.notes:
        ids = [number for edge in note.edges for number in rows.get((edge.source, edge.target), [])]
        for line in lines:
            body.append(typography.text(Point(box.centre.x, y), line, "note", "middle", also=note.kind, rows=ids))
            y += NOTE_HEIGHT
    return body
