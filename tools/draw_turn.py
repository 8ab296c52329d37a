"""Draw where the milliseconds of a turn go: `python tools/draw_turn.py`.

Reads docs/turn-latency.json, which has the output of `duologue bench talk` and `duologue bench understood`, and writes
docs/pictures/turn.svg. Rule: every length comes from that file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
WIDTH, LEFT, RIGHT, TOP, ROW = 760, 20, 60, 34, 62
MS_MAX = 1_400
COLOURS = {"end of turn": "#3b82f6", "brain": "#9d5cf0", "voice": "#0d9466"}


def x(ms: float) -> float:
    return LEFT + ms / MS_MAX * (WIDTH - LEFT - RIGHT)


def text(at_x: float, at_y: float, words: str, anchor: str = "start", colour: str = "#1d2433") -> str:
    return f'<text x="{at_x:.0f}" y="{at_y:.0f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def bar(first_ms: float, last_ms: float, at_y: float, part: str) -> str:
    width = max(x(last_ms) - x(first_ms), 0)
    return f'<rect x="{x(first_ms):.1f}" y="{at_y:.0f}" width="{width:.1f}" height="14" fill="{COLOURS[part]}"/>'


def row(place: int, turn: dict[str, Any]) -> list[str]:
    """One turn: its end is decided, then the brain and the voice work, or before that if the brain was asked early."""
    at_y = TOP + place * ROW
    made_ms = turn["brain_ms"] + turn["voice_ms"]
    begun_ms = turn["heard_ms"] - made_ms
    lines = [text(LEFT, at_y, turn["name"]), bar(0, turn["end_of_turn_ms"], at_y + 8, "end of turn")]
    lines.append(bar(begun_ms, begun_ms + turn["brain_ms"], at_y + 24, "brain"))
    lines.append(bar(begun_ms + turn["brain_ms"], turn["heard_ms"], at_y + 24, "voice"))
    lines.append(text(x(turn["heard_ms"]) + 6, at_y + 20, f"{turn['heard_ms']} ms"))
    return lines


def main() -> None:
    """Write the picture."""
    turns = json.loads((ROOT / "docs" / "turn-latency.json").read_text(encoding="utf-8"))["turns"]
    height = TOP + len(turns) * ROW + 24
    lines = [line for place, turn in enumerate(turns) for line in row(place, turn)]
    for place, (part, colour) in enumerate(COLOURS.items()):
        lines.append(f'<rect x="{LEFT + 130 * place}" y="{height - 22}" width="12" height="12" fill="{colour}"/>')
        lines.append(text(LEFT + 130 * place + 18, height - 12, part))
    size = f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    title = "<title>From the end of speech to the first sound, in four kinds of turns</title>"
    paper = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    svg = "\n".join((head, title, paper, *lines, "</svg>")) + "\n"
    (ROOT / "docs" / "pictures" / "turn.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
