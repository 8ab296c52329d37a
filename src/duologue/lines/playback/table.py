"""Writes the playback state machine as Markdown for the documentation: its places and rows.

Rule: the text is made from the same rows that the line runs, so it can't differ from them.
"""

from __future__ import annotations

from .rows import SECTIONS, PlaybackRow
from .state import MEANINGS, VoicePlace


def markdown() -> str:
    """The places and the rows, as tables."""
    lines = ["| of | place | meaning |", "|---|---|---|"]
    for place, meaning in MEANINGS.items():
        lines.append(f"| {'voice' if isinstance(place, VoicePlace) else 'client'} | `{place.value}` | {meaning} |")
    for title, rows in SECTIONS.items():
        lines += ["", f"### {title}", "", "| in | on | if | to | does | why |", "|---|---|---|---|---|---|"]
        lines += [_line(row) for row in rows]
    return "\n".join([*lines, ""])


def _line(row: PlaybackRow) -> str:
    cells = (
        ", ".join(place.value for place in row.sources),
        f"`{row.on.__name__}`",
        _words(row.when.__name__) if row.when else "",
        row.target.value if row.target else "same",
        ", ".join(_words(action.__name__) for action in row.do),
        row.why,
    )
    return f"| {' | '.join(cells)} |"


def _words(name: str) -> str:
    return name.replace("_", " ")
