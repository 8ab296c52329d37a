"""The whole machine in one picture: each region is a lane, and below the lanes are the rules that connect the regions.

The picture is a first overview. So it doesn't show triggers, and it shows numbers instead of lists. Rule: everything in
the picture comes from rows, rules, deadlines and docstrings.
"""

from __future__ import annotations

from math import fsum  # the same result in every Python
from typing import NamedTuple

from duologue.core.leaves import Leaf
from duologue.core.machine import MACHINE, ROWS
from duologue.core.rows import Rule

from . import typography
from .graph import REGIONS, Diagram, region_diagram, region_rows
from .legend import KIND_SIGNS, START, TIMED, Sign, paint_legend
from .picture import Arrangement, Picture, Spacing, arrange, connect
from .rule_moves import rule_moves
from .shapes import Box, Point
from .svg_elements import paint

_MARGIN = 30.0
_HEAD = 66.0
_GAP = 12.0
_BAND = 80.0
_PADDING = 15.0
_CARD = 70.0
_COLUMN_MAX = 7  # more states than this need a second column
_DOWN_MIN, _DOWN_MAX = 34.0, 64.0  # the vertical gap between two states of a lane


class RegionLane(NamedTuple):
    region: type[Leaf]
    hue: str
    diagram: Diagram
    picture: Picture

    @property
    def width(self) -> float:
        return max(self.picture.bounds.width + 2 * _PADDING, 168.0)


def machine_svg() -> str:
    """The picture of the whole machine as an SVG file."""
    lanes = _lanes()
    height = max(lane.picture.bounds.height for lane in lanes) + _BAND + 2 * _PADDING + 20
    width = fsum(lane.width + _GAP for lane in lanes) - _GAP + 2 * _MARGIN
    title = "One conversation, five regions"
    about = (
        f"Each region is in exactly one state. {len(ROWS)} rows move them, {len(MACHINE.rules)} rules join them, "
        "and every state that must not last has a deadline."
    )
    body = [
        typography.text(Point(_MARGIN, _MARGIN + 15), title, "title"),
        typography.text(Point(_MARGIN, _MARGIN + 38), about, "about"),
    ]
    x, y = _MARGIN, _MARGIN + _HEAD
    for lane in lanes:
        body += _paint_lane(lane, Box(x, y, lane.width, height))
        x += lane.width + _GAP
    y += height + _GAP
    body += _paint_rules(lanes, Box(_MARGIN, y, width - 2 * _MARGIN, _CARD))
    y += _CARD + 30
    signs = [START, TIMED, *KIND_SIGNS[:2], Sign("", "a rule has the colours of the regions that it moves")]
    body += [f'<g class="{lanes[0].hue}">', *paint_legend(signs, Point(_MARGIN, y)), "</g>"]
    states = " ".join(f"{lane.diagram.title}: {', '.join(node.name for node in lane.diagram.nodes)}." for lane in lanes)
    return typography.document(title, f"{about} {states}", width, y + 22, body)


def _lanes() -> list[RegionLane]:
    """One lane for each region. In the shorter lanes, the states are moved apart, so that all lanes are about equally
    high."""
    diagrams = [region_diagram(region) for region in REGIONS.values()]
    heights = [_arranged(diagram, _DOWN_MIN).bounds.height for diagram in diagrams]
    lanes = []
    for hue, region, diagram, height in zip(typography.HUES, REGIONS.values(), diagrams, heights, strict=True):
        gaps = -(-len(diagram.nodes) // _columns_of(diagram)) - 1
        down = _DOWN_MIN + (max(heights) - height) / max(gaps, 1)
        lanes.append(RegionLane(region, hue, diagram, connect(_arranged(diagram, min(down, _DOWN_MAX)))))
    return lanes


def _arranged(diagram: Diagram, down: float) -> Arrangement:
    return arrange(diagram, _columns_of(diagram), Spacing(across=38, down=down), brief=True)


def _columns_of(diagram: Diagram) -> int:
    return -(-len(diagram.nodes) // _COLUMN_MAX)


def _paint_lane(lane: RegionLane, box: Box) -> list[str]:
    bounds = lane.picture.bounds
    left = box.x + (box.width - bounds.width) / 2
    top = box.y + _BAND
    question = lane.diagram.about.split("?")[0] + "?"
    body = [
        f'<g class="{lane.hue}">',
        typography.rect(box, "panel", 10),
        typography.text(Point(box.x + _PADDING, box.y + 26), lane.diagram.title, "heading"),
    ]
    for number, line in enumerate(_wrapped(question, box.width - 2 * _PADDING)):
        body.append(typography.text(Point(box.x + _PADDING, box.y + 44 + number * 14), line, "small"))
    body += paint(lane.diagram, lane.picture.moved(left - bounds.x, top - bounds.y))
    rows = f"{len(region_rows(lane.region))} rows"
    body.append(typography.text(Point(box.x + _PADDING, box.bottom - 12), rows, "small"))
    return [*body, "</g>"]


def _paint_rules(lanes: list[RegionLane], box: Box) -> list[str]:
    """Draws a card for each rule. A card has one dot for each region whose state the rule changes, in the colour of
    that region."""
    rules = MACHINE.rules
    width = (box.width - _GAP * (len(rules) - 1)) / len(rules)
    body = []
    for number, rule in enumerate(rules):
        card = Box(box.x + number * (width + _GAP), box.y, width, box.height)
        body += [f"<g{typography.rows_of([-1 - number])}>", *_paint_rule(rule, lanes, card), "</g>"]
    return body


def _paint_rule(rule: Rule, lanes: list[RegionLane], card: Box) -> list[str]:
    body = [typography.rect(card, "panel", 10), typography.text(Point(card.x + 12, card.y + 22), rule.name, "mend")]
    moved = [lane for lane in lanes if any(name == rule.name for name, _, _ in rule_moves(lane.region))]
    for number, lane in enumerate(reversed(moved)):
        dot = typography.circle(Point(card.right - 16 - number * 12, card.y + 18), 4, "dot")
        body.append(f'<g class="{lane.hue}">{typography.title(lane.diagram.title)}{dot}</g>')
    for number, line in enumerate(_wrapped(rule.why, card.width - 20)):
        body.append(typography.text(Point(card.x + 12, card.y + 41 + number * 14), line, "small"))
    return body


def _wrapped(text: str, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and typography.text_width(longer, "small") > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
