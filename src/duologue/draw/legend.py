"""The legend below a picture. It explains the picture's signs, in one line."""

from __future__ import annotations

from math import fsum  # the same result in every Python
from typing import NamedTuple

from . import typography
from .shapes import Curve, Point

_GAP = 22.0
_ARROW = 26.0


class Sign(NamedTuple):
    """A sign and its meaning. `kind` is a kind of move, or `start` or `timed`. If `kind` is empty, there is no sign,
    and only the meaning is shown."""

    kind: str
    meaning: str

    @property
    def lead(self) -> float:
        """The width of the sign, without the text of its meaning."""
        return {"": 0.0, "start": 12.0, "timed": 15.0}.get(self.kind, _ARROW + 8)

    @property
    def width(self) -> float:
        return self.lead + typography.text_width(self.meaning, "small")


START = Sign("start", "begins here")
TIMED = Sign("timed", "a deadline ends it")
KIND_SIGNS = (
    Sign("row", "a row moves it"),
    Sign("rule", "a rule moves it"),
    Sign("source", "in the view's own table"),
    Sign("amended", "amended"),
)


def legend_width(signs: list[Sign]) -> float:
    return fsum(sign.width + _GAP for sign in signs) - _GAP


def paint_legend(signs: list[Sign], at: Point) -> list[str]:
    body = []
    x = at.x
    for sign in signs:
        body += _paint_sign(sign, Point(x, at.y - 4))
        body.append(typography.text(Point(x + sign.lead, at.y), sign.meaning, "small"))
        x += sign.width + _GAP
    return body


def _paint_sign(sign: Sign, at: Point) -> list[str]:
    if sign.kind == "":
        return []
    if sign.kind == "start":
        return [typography.circle(Point(at.x + 4, at.y), 3.2, "dot")]
    if sign.kind == "timed":
        return [typography.clock(Point(at.x + 5, at.y))]
    end = Point(at.x + _ARROW, at.y)
    line = Curve(at, at, end, Point(end.x - 6, end.y))
    return [
        typography.curve_path(line, f"line {sign.kind}"),
        typography.arrow_head(end, Point(-1, 0), f"arrow {sign.kind}"),
    ]
