"""Text widths, colours and SVG elements, for light and dark schemes.

Text widths are generous estimates, because the reader's fonts aren't known. Rule: elements have CSS classes instead of
colours, and the stylesheet defines the colours for the light and the dark scheme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum  # the same result in every Python
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from .shapes import Box, Curve, Point


class Face(NamedTuple):
    """A kind of text: its size in px, its weight, whether it is monospaced, and its colour."""

    size: float
    weight: int = 400
    mono: bool = False
    shade: str = "ink"


FACES: dict[str, Face] = {
    "title": Face(20, 650),
    "about": Face(13, shade="muted"),
    "heading": Face(15, 650),
    "name": Face(13, 600),
    "note": Face(10.5, shade="muted"),
    "label": Face(11, mono=True),
    "reason": Face(11.5),
    "column": Face(11.5),
    "small": Face(11, shade="muted"),
    "mend": Face(12.5, 650),
}

_LIGHT = {"paper": "#ffffff", "panel": "#f6f8fa", "rim": "#d8dee4", "ink": "#1f2328", "muted": "#59636e"}
_DARK = {"paper": "#0d1117", "panel": "#151b23", "rim": "#2d343d", "ink": "#e6edf3", "muted": "#9ba5b0"}
_LIGHT |= {"line": "#77818c", "amended": "#b35900", "faint": "#e4e8ec", "box": "#ffffff"}
_DARK |= {"line": "#7d8794", "amended": "#e3a04f", "faint": "#262d36", "box": "#10151c"}

# For each hue: the strong colour and the tint in the light scheme, then in the dark one.
HUES: dict[str, tuple[str, str, str, str]] = {
    "blue": ("#3568b0", "#eef4fd", "#79aef5", "#17263c"),
    "teal": ("#1f7f74", "#e9f6f4", "#58c4b7", "#12302d"),
    "violet": ("#6d51b5", "#f3f0fc", "#b09af5", "#261f40"),
    "amber": ("#986a14", "#fdf6e6", "#e0b455", "#332810"),
    "rose": ("#ad4766", "#fdf0f4", "#f092aa", "#3a1a25"),
}

_SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
_MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'


def text_width(text: str, face: str) -> float:
    """An estimate of the width of a text in px, for common fonts. The estimate is more often too large than too
    small."""
    size, weight, mono, _ = FACES[face]
    if mono:
        return len(text) * size * 0.61
    return fsum(_letter(letter) for letter in text) * size * (1.16 if weight > 500 else 1.0)


def _letter(letter: str) -> float:
    if letter in "ijlI.,:;'|!()[] ":
        return 0.34
    if letter in "frt-":
        return 0.42
    if letter in "mwMW→↔":
        return 0.9
    return 0.7 if letter.isupper() else 0.61


def stylesheet() -> str:
    """The stylesheet that every picture uses: typefaces, then light colours, then dark colours."""
    lines = [f"text {{ font-family: {_SANS}; }}"]
    for name, face in FACES.items():
        family = f" font-family: {_MONO};" if face.mono else ""
        lines.append(f".{name} {{ font-size: {face.size}px; font-weight: {face.weight};{family} }}")
    lines += [
        ".line { fill: none; stroke-width: 1.5; stroke-linecap: round; }",
        ".line.rule { stroke-width: 1.9; stroke-dasharray: 0.1 4.6; }",
        ".line.amended { stroke-dasharray: 5 4; }",
        ".state { stroke-width: 1.4; }",
        ".track { stroke-width: 1; }",
        ".clock { fill: none; stroke-width: 1.2; stroke-linecap: round; stroke-linejoin: round; }",
        ".bus { stroke-width: 1.4; }",
    ]
    lines += _colours(_LIGHT, 0)
    lines.append("@media (prefers-color-scheme: dark) {")
    lines += [f"  {line}" for line in _colours(_DARK, 2)]
    lines.append("}")
    return "\n".join(lines)


def _colours(shades: Mapping[str, str], first: int) -> list[str]:
    lines = [f".{name} {{ fill: {shades[face.shade]}; }}" for name, face in FACES.items()]
    lines += [
        f".paper {{ fill: {shades['paper']}; stroke: {shades['rim']}; }}",
        f".panel {{ fill: {shades['panel']}; stroke: {shades['rim']}; }}",
        f".stripe {{ fill: {shades['panel']}; }}",
        f".state {{ fill: {shades['box']}; }}",
        f".track {{ stroke: {shades['faint']}; }}",
        f".line, .clock {{ stroke: {shades['line']}; }}",
        f".arrow {{ fill: {shades['line']}; }}",
    ]
    for hue, colours in HUES.items():
        strong, tint = colours[first : first + 2]
        lines += [
            f".{hue} .state, .{hue} .bus, .{hue} .line.rule {{ stroke: {strong}; }}",
            f".{hue} .dot, .{hue} .arrow.rule, .{hue} .heading {{ fill: {strong}; }}",
            f".{hue} .band, .{hue} .state.start {{ fill: {tint}; }}",
        ]
    amended = shades["amended"]
    lines.append(f".line.amended, .amended .bus {{ stroke: {amended}; }}")
    lines.append(f".arrow.amended, .note.amended, .amended .dot {{ fill: {amended}; }}")
    return lines


# -- Elements


def number(value: float) -> str:
    """The number as text with at most one decimal. This is precise enough, and it gives the same text on every
    machine."""
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def rows_of(ids: Iterable[int]) -> str:
    """The attribute `data-rows`, which has the ids of the rows and rules that an element stands for. Empty if there are
    no ids."""
    numbers = sorted(set(ids))
    return f' data-rows="{" ".join(map(str, numbers))}"' if numbers else ""


def title(content: str) -> str:
    return f"<title>{escape(content)}</title>"


def text(
    at: Point,
    content: str,
    face: str,
    anchor: str = "start",
    also: str = "",
    turn: int = 0,
    rows: Iterable[int] = (),
) -> str:
    attributes = f' class="{f"{face} {also}".strip()}" x="{number(at.x)}" y="{number(at.y)}"{rows_of(rows)}'
    if anchor != "start":
        attributes += f' text-anchor="{anchor}"'
    if turn:
        attributes += f' transform="rotate({turn} {number(at.x)} {number(at.y)})"'
    return f"<text{attributes}>{escape(content)}</text>"


def rect(box: Box, name: str, radius: float = 0, title: str = "") -> str:
    place = f'x="{number(box.x)}" y="{number(box.y)}" width="{number(box.width)}" height="{number(box.height)}"'
    rounded = f' rx="{number(radius)}"' if radius else ""
    named = f" data-name={quoteattr(title)}" if title else ""
    return f'<rect class="{name}" {place}{rounded}{named}/>'


def circle(at: Point, radius: float, name: str) -> str:
    return f'<circle class="{name}" cx="{number(at.x)}" cy="{number(at.y)}" r="{number(radius)}"/>'


def clock(at: Point, radius: float = 4.6) -> str:
    """The sign for a deadline: a clock with two hands."""
    dial = f'<circle class="clock" cx="{number(at.x)}" cy="{number(at.y)}" r="{number(radius)}"/>'
    hands = f"M {number(at.x)} {number(at.y - 2.6)} V {number(at.y)} H {number(at.x + 2)}"
    return f'{dial}<path class="clock" d="{hands}"/>'


def straight(start: Point, end: Point, name: str) -> str:
    return (
        f'<line class="{name}" x1="{number(start.x)}" y1="{number(start.y)}" '
        f'x2="{number(end.x)}" y2="{number(end.y)}"/>'
    )


def curve_path(curve: Curve, name: str) -> str:
    (ax, ay), *rest = curve
    tail = ", ".join(f"{number(x)} {number(y)}" for x, y in rest)
    return f'<path class="{name}" d="M {number(ax)} {number(ay)} C {tail}"/>'


def arrow_head(tip: Point, back: Point, name: str, length: float = 8.0, rows: Iterable[int] = ()) -> str:
    """An arrow head whose point is at `tip`. `back` is the direction from the tip to the base of the arrow head."""
    base = tip.along(back, length)
    aside = Point(-back.y, back.x)
    corners = (tip, base.along(aside, length * 0.45), base.along(aside, -length * 0.45))
    path = " L ".join(f"{number(x)} {number(y)}" for x, y in corners)
    return f'<path class="{name}"{rows_of(rows)} d="M {path} Z"/>'


def document(title: str, about: str, width: float, height: float, body: list[str]) -> str:
    """A complete SVG file with a background, and with a title and a description for screen readers."""
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">'
    paper = rect(Box(0.5, 0.5, width - 1, height - 1), "paper", 12)
    return "\n".join(
        [
            head,
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(about)}</desc>',
            f"<style>\n{stylesheet()}\n</style>",
            paper,
            *body,
            "</svg>\n",
        ]
    )
