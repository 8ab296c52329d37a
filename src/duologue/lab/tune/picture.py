"""The frontier as an SVG picture: the share of cut-ins against the mean wait, one dot for each setting.

Rule: labels never overlap each other. A setting whose label finds no room has only its dot, and its name as a tooltip.
Settings with a very long wait are named below the picture instead, because their dots would squeeze all other dots
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from .frontier import PolicyPoint
from .policies import RECORDED, family_of

WIDTH, HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 44, 56
_LETTER, _LINE = 6.6, 15  # the size of a letter and of a line of text
WAIT_MS_SHOWN = 1_800  # a setting with a longer mean wait isn't drawn, unless it is the recorded or the recommended one
FAMILIES = {"sound": "sound and words", "silence": "fixed silence", "easyturn": "EasyTurn rule"}

STYLE = """
.tune { --ink: #1d2433; --soft: #5b6579; --rule: #e2e6ee; --paper: #ffffff; --sound: #7a3fc4; --silence: #2f66c9;
  --easyturn: #0f7f86; --recorded: #b8500f; --best: #16783f; --bad: #c2261a; --voice: #9db9ee; --agent: #c9ced8; }
@media (prefers-color-scheme: dark) {
  .tune { --ink: #e3e8f2; --soft: #a0aabd; --rule: #2c3445; --paper: #12151c; --sound: #c095f5; --silence: #7fa8f5;
    --easyturn: #4fc3ca; --recorded: #f0954f; --best: #5fd08f; --bad: #ff7a6b; --voice: #3f5f9e; --agent: #454d5e; } }
.tune text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.tune .soft { fill: var(--soft); } .tune .rule { stroke: var(--rule); } .tune .strong { font-weight: 600; }
"""


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        is_beside = self.right < other.left or other.right < self.left
        return not (is_beside or self.bottom < other.top or other.bottom < self.top)


class _Scale(NamedTuple):
    """Converts a wait and a share of cut-ins to a position in the picture."""

    wait_min: float
    wait_max: float
    wait_step: float  # between two marks
    cut_max: float
    cut_step: float

    def x(self, wait_ms: float) -> float:
        return _LEFT + (wait_ms - self.wait_min) / (self.wait_max - self.wait_min) * (WIDTH - _LEFT - _RIGHT)

    def y(self, cut_pct: float) -> float:
        return HEIGHT - _BOTTOM - cut_pct / self.cut_max * (HEIGHT - _TOP - _BOTTOM)


def frontier_svg(points: Sequence[PolicyPoint], best: PolicyPoint | None) -> str:
    """The picture as SVG text. It shows the ranges of the recorded and of the recommended setting."""
    known = [point for point in points if point.ends]
    shown = [one for one in known if one.wait_ms <= WAIT_MS_SHOWN or one.name == RECORDED or one is best]
    scale = _scale(shown)
    parts = [*_axes(scale), *_lines(shown, scale), *_legend({family_of(point.name) for point in shown})]
    marked = [point for point in shown if point.name == RECORDED or point is best]
    for point in marked:
        parts += _ranges(point, scale, _colour(point, best))
    for point in sorted(shown, key=lambda one: one in marked):
        parts.append(_dot(point, scale, best))
    parts += _labels([*marked, *(point for point in shown if point not in marked)], scale, best)
    parts += _left_out(len(known) - len(shown))
    body = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tune" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="Cut-ins against the mean wait">{body}</svg>'
    )


def picture_file(points: Sequence[PolicyPoint], best: PolicyPoint | None) -> str:
    """The picture as the content of a separate file."""
    paper = '<rect width="100%" height="100%" style="fill:var(--paper)"/>'
    whole = frontier_svg(points, best)
    start = whole.index(">") + 1
    return f"{whole[:start]}<style>{STYLE}</style>{paper}{whole[start:]}\n"


def _scale(points: Sequence[PolicyPoint]) -> _Scale:
    waits = [point.wait_ms for point in points] or [0.0, 1_000.0]
    step = _step(max(waits) - min(waits))
    cut_max = max([5.0, *(point.cut_in_pct for point in points)])
    cut_step = _step(cut_max)
    first, last = min(waits) // step * step, (max(waits) // step + 1) * step
    return _Scale(first, last, step, (cut_max // cut_step + 1) * cut_step, cut_step)


def _step(span: float) -> float:
    """A round distance between two marks of an axis."""
    return next((step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000) if span / step <= 6), 5_000)


def _axes(scale: _Scale) -> list[str]:
    bottom = scale.y(0)
    parts = [
        f'<text class="soft" x="{(WIDTH + _LEFT) / 2:.0f}" y="{HEIGHT - 14}" text-anchor="middle">'
        "mean wait from the last sound to the end of the turn, ms</text>",
        f'<text class="soft" x="8" y="{_TOP - 24}">cut-ins, % of the pauses in which the user went on</text>',
    ]
    wait = scale.wait_min
    while wait <= scale.wait_max:
        parts.append(
            f'<path class="rule" d="M{scale.x(wait):.1f} {_TOP}V{bottom:.1f}"/>'
            f'<text class="soft" x="{scale.x(wait):.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{wait:.0f}</text>'
        )
        wait += scale.wait_step
    cut = 0.0
    while cut <= scale.cut_max:
        parts.append(
            f'<path class="rule" d="M{_LEFT} {scale.y(cut):.1f}H{WIDTH - _RIGHT}"/>'
            f'<text class="soft" x="{_LEFT - 8}" y="{scale.y(cut) + 4:.1f}" text-anchor="end">{cut:.0f}</text>'
        )
        cut += scale.cut_step
    return parts


def _left_out(count: int) -> list[str]:
    if not count:
        return []
    settings = "setting waits" if count == 1 else "settings wait"
    words = f"{count} {settings} longer than {WAIT_MS_SHOWN} ms: see the table"
    return [f'<text class="soft" x="{WIDTH - _RIGHT}" y="{_TOP + 14}" text-anchor="end">{words}</text>']


def _legend(families: set[str]) -> list[str]:
    parts, right = [], WIDTH - _RIGHT
    for family, name in reversed(FAMILIES.items()):
        if family in families:
            right -= round(len(name) * _LETTER)
            parts.append(f'<text class="soft" x="{right}" y="{_TOP - 24}">{name}</text>')
            parts.append(f'<circle cx="{right - 9}" cy="{_TOP - 28}" r="4.5" style="fill:var(--{family})"/>')
            right -= 30
    return parts


def _lines(points: Sequence[PolicyPoint], scale: _Scale) -> list[str]:
    """A thin line through the settings of each family, in the order of their waits."""
    parts = []
    for family in FAMILIES:
        same = sorted((one for one in points if family_of(one.name) == family), key=lambda one: one.wait_ms)
        for one, two in pairwise(same):
            parts.append(
                f'<path d="M{scale.x(one.wait_ms):.1f} {scale.y(one.cut_in_pct):.1f}'
                f'L{scale.x(two.wait_ms):.1f} {scale.y(two.cut_in_pct):.1f}"'
                f' style="stroke:var(--{family});opacity:.35"/>'
            )
    return parts


def _ranges(point: PolicyPoint, scale: _Scale, colour: str) -> list[str]:
    x, y = scale.x(point.wait_ms), scale.y(point.cut_in_pct)
    low, high = (scale.y(min(cut, scale.cut_max)) for cut in point.cut_in_range)
    left, right = (scale.x(min(max(wait, scale.wait_min), scale.wait_max)) for wait in point.wait_range)
    style = f'style="stroke:var(--{colour});stroke-width:5;opacity:.28"'
    return [
        f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" {style}/>',
        f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" {style}/>',
    ]


def _colour(point: PolicyPoint, best: PolicyPoint | None) -> str:
    return "best" if point is best else family_of(point.name)


def _dot(point: PolicyPoint, scale: _Scale, best: PolicyPoint | None) -> str:
    radius = 6.5 if point is best or point.name == RECORDED else 4.5
    facts = f"{point.name}: {point.cut_in_pct:.1f} % cut-ins, {point.wait_ms:.0f} ms"
    return (
        f'<circle cx="{scale.x(point.wait_ms):.1f}" cy="{scale.y(point.cut_in_pct):.1f}" r="{radius}"'
        f' style="fill:var(--{_colour(point, best)});stroke:var(--paper);stroke-width:1.5">'
        f"<title>{escape(facts)}</title></circle>"
    )


def _labels(points: Sequence[PolicyPoint], scale: _Scale, best: PolicyPoint | None) -> list[str]:
    """The names of the settings beside their dots, the most important first."""
    taken = [_around(scale.x(point.wait_ms), scale.y(point.cut_in_pct), 7) for point in points]
    taken.append(_Box(WIDTH / 2, _TOP, WIDTH, _TOP + 18))  # the note about settings that aren't drawn
    parts = []
    for point in points:
        is_marked = point is best or point.name == RECORDED
        text = f"{point.name} (recommended)" if point is best else point.name
        box = _room(text, scale.x(point.wait_ms), scale.y(point.cut_in_pct), taken)
        if box is not None:
            taken.append(box)
            strong = ' class="strong"' if is_marked else ""
            parts.append(f'<text{strong} x="{box.left + 2:.1f}" y="{box.bottom - 4:.1f}">{escape(text)}</text>')
    return parts


def _around(x: float, y: float, size: float) -> _Box:
    return _Box(x - size, y - size, x + size, y + size)


def _room(text: str, x: float, y: float, taken: Sequence[_Box]) -> _Box | None:
    """A free place near the dot, where this text would overlap nothing; None if there is no such place."""
    width = len(text) * _LETTER + 4
    for away in (10, 24, 40):
        for left, top in (
            (x + away, y - _LINE / 2), (x + away / 2, y - away - _LINE), (x + away / 2, y + away),
            (x - away - width, y - _LINE / 2), (x - width / 2, y - away - _LINE), (x - width / 2, y + away),
        ):  # fmt: skip
            box = _Box(left, top, left + width, top + _LINE)
            is_inside = (
                box.left > _LEFT and box.right < WIDTH - 2 and box.top > _TOP - 16 and box.bottom <= HEIGHT - _BOTTOM
            )
            if is_inside and not any(box.meets(other) for other in taken):
                return box
    return None
