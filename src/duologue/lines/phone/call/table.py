"""Writes the state machine of a telephone call as Markdown for the documentation: its stages and rows.

Rule: the text is made from the same rows that the server runs, so it can't differ from them.
"""

from __future__ import annotations

from .rows import CALL_SECTIONS, CallRow
from .state import STAGE_MEANINGS


def markdown() -> str:
    """The stages and the rows, as tables."""
    lines = ["| stage | meaning |", "|---|---|"]
    lines += [f"| {stage.value} | {meaning} |" for stage, meaning in STAGE_MEANINGS.items()]
    for title, rows in CALL_SECTIONS.items():
        lines += ["", f"### {title}", "", "| in | on | if | to | does | limit | why |", "|---|---|---|---|---|---|---|"]
        lines += [_line(row) for row in rows]
    return "\n".join([*lines, ""])


def _line(row: CallRow) -> str:
    cells = (
        ", ".join(stage.value for stage in row.sources),
        f"`{row.on.__name__}`",
        _words(row.when.__name__) if row.when else "",
        row.target.value,
        ", ".join(_words(action.__name__) for action in row.do),
        f"`{row.limit}`" if row.limit else "",
        row.why,
    )
    return f"| {' | '.join(cells)} |"


def _words(name: str) -> str:
    return name.replace("_", " ")
