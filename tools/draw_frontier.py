"""Draw the share of users cut off against the mean wait: `python tools/draw_frontier.py`.

Reads docs/turn-taking.json and writes docs/pictures/turn-taking.svg. Rule: every point comes from that file
and is cross-validated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 60, 200, 24, 52
X_MS, Y_PCT = (400, 1150), (0, 80)


class Curve(NamedTuple):
    key: str
    name: str
    colour: str


CURVES = (
    Curve("timers", "a fixed silence", "#7d8694"),
    Curve("logit_only", "Smart Turn, graded", "#b97708"),
    Curve("text_only", "the words alone", "#9d5cf0"),
    Curve("no_embedding", "Smart Turn and words", "#3b82f6"),
    Curve("everything", "all of it (shipped)", "#0d9466"),
)


def x(ms: float) -> float:
    return LEFT + (ms - X_MS[0]) / (X_MS[1] - X_MS[0]) * (WIDTH - LEFT - RIGHT)


def y(pct: float) -> float:
    return TOP + (Y_PCT[1] - pct) / (Y_PCT[1] - Y_PCT[0]) * (HEIGHT - TOP - BOTTOM)


def text(at_x: float, at_y: float, words: str, anchor: str = "middle", colour: str = "#626b79") -> str:
    return f'<text x="{at_x:.0f}" y="{at_y:.0f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def axes() -> list[str]:
    lines = []
    for ms in range(400, 1200, 100):
        lines.append(f'<line x1="{x(ms):.0f}" y1="{y(0):.0f}" x2="{x(ms):.0f}" y2="{TOP}" stroke="#7d869433"/>')
        lines.append(text(x(ms), y(0) + 18, str(ms)))
    for pct in range(0, 90, 10):
        lines.append(f'<line x1="{LEFT}" y1="{y(pct):.0f}" x2="{WIDTH - RIGHT}" y2="{y(pct):.0f}" stroke="#7d869433"/>')
        lines.append(text(LEFT - 8, y(pct) + 4, f"{pct} %", "end"))
    lines.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "mean wait after the end of a turn, ms"))
    return lines


def curve(one: Curve, points: list[tuple[float, float]]) -> list[str]:
    points = sorted({point for point in points if X_MS[0] <= point[0] <= X_MS[1] and point[1] <= Y_PCT[1]})
    path = " ".join(f"{x(ms):.1f},{y(pct):.1f}" for ms, pct in points)
    dots = [f'<circle cx="{x(ms):.1f}" cy="{y(pct):.1f}" r="3" fill="{one.colour}"/>' for ms, pct in points]
    return [f'<polyline points="{path}" fill="none" stroke="{one.colour}" stroke-width="2"/>', *dots]


def main() -> None:
    results = json.loads((ROOT / "docs" / "turn-taking.json").read_text(encoding="utf-8"))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"',
        ' font-size="13">',
        "<title>Users cut off in a pause, by the mean wait at the end of a turn; cross-validated</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *axes(),
    ]
    for place, one in enumerate(CURVES):
        rows = results["timers"] if one.key == "timers" else results["tables"][one.key]["frontier"]
        lines += curve(one, [(row["mean_ms"], row["cut_in"]) for row in rows])
        lines.append(text(WIDTH - RIGHT + 16, TOP + 16 + 22 * place, one.name, "start", one.colour))
    out = ROOT / "docs" / "pictures" / "turn-taking.svg"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join([*lines, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
