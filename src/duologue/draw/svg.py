"""Draws a diagram as one self-contained SVG file: a picture of the moves, and below it a chart of their reasons.

Uses only the standard library and follows the reader's light or dark scheme. Rule: the same diagram always
gives the same bytes.
"""

from __future__ import annotations

from . import typography
from .chart import chart_of
from .graph import REGIONS, Diagram
from .lanes import machine_svg
from .legend import KIND_SIGNS, START, TIMED, Sign, legend_width, paint_legend
from .picture import Picture, lay_out
from .shapes import Point
from .svg_elements import paint

__all__ = ["machine_svg", "to_svg"]

_MARGIN = 30.0
_HEAD = 64.0
_GAP = 30.0
_LEGEND = 34.0


def to_svg(diagram: Diagram) -> str:
    """The SVG file of one region or view."""
    picture, chart = lay_out(diagram), chart_of(diagram)
    inner = max(picture.bounds.width, chart.width if chart else 0, typography.text_width(diagram.about, "about"))
    signs = _signs(diagram, picture)
    inner = max(inner, legend_width(signs))
    left = _MARGIN + (inner - picture.bounds.width) / 2
    picture = picture.moved(left - picture.bounds.x, _MARGIN + _HEAD - picture.bounds.y)
    body = [
        typography.text(Point(_MARGIN, _MARGIN + 14), diagram.title, "title"),
        typography.text(Point(_MARGIN, _MARGIN + 36), diagram.about, "about"),
        f'<g class="{hue_of(diagram)}">',
        *paint(diagram, picture),
    ]
    y = picture.bounds.bottom + _GAP
    if chart:
        body += chart.paint(Point(_MARGIN, y))
        y += chart.height + _GAP / 2
    body += [*paint_legend(signs, Point(_MARGIN, y + 8)), "</g>"]
    return typography.document(diagram.title, _described(diagram), inner + 2 * _MARGIN, y + _LEGEND, body)


def hue_of(diagram: Diagram) -> str:
    """The hue of a diagram. Each region has its own hue, and all views have the first hue."""
    hues = list(typography.HUES)
    regions = list(REGIONS)
    return hues[regions.index(diagram.title) % len(hues)] if diagram.title in regions else hues[0]


def _described(diagram: Diagram) -> str:
    """A description of the diagram in words, for screen readers."""
    moves = "; ".join(f"{edge.source} to {edge.target}" for edge in diagram.edges)
    about = f"{diagram.about.rstrip('.')}. " if diagram.about and diagram.about[-1] != "?" else f"{diagram.about} "
    return f"{about}States: {', '.join(node.name for node in diagram.nodes)}. Moves: {moves}."


def _signs(diagram: Diagram, picture: Picture) -> list[Sign]:
    """The signs that occur in the picture, for the legend."""
    drawn = dict.fromkeys([line.kind for line, _ in picture.lines])
    signs = [sign for sign in KIND_SIGNS if sign.kind in drawn]
    if any(node.timed for node in diagram.nodes):
        signs.insert(0, TIMED)
    if diagram.loops and not any(edge.is_loop for edge in diagram.edges):
        rows = "1 more row acts" if diagram.loops == 1 else f"{diagram.loops} more rows act"
        signs.append(Sign("", f"{rows} without a move"))
    return [START, *signs]
