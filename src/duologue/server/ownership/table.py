"""The ownership machine as Markdown, for the documentation: its places (states) and its rows.

Rule: the tables are made from the same rows and meanings that the server itself uses.
"""

from __future__ import annotations

from .places import MEANINGS
from .rows import SECTIONS, OwnershipRow


def markdown() -> str:
    """The places and the rows of the ownership machine, as Markdown tables."""
    lines = ["| place | meaning |", "|---|---|"]
    lines += [f"| `{place.value}` | {meaning} |" for place, meaning in MEANINGS.items()]
    for title, rows in SECTIONS.items():
        lines += ["", f"### {title}", "", "| in | on | if | to | does | why |", "|---|---|---|---|---|---|"]
        lines += [_line(row) for row in rows]
    return "\n".join([*lines, ""])


def _line(row: OwnershipRow) -> str:
    cells = (
        ", ".join(place.value for place in row.sources),
        ", ".join(f"`{kind.__name__}`" for kind in row.on),
        _words(row.when.__name__) if row.when else "",
        row.target.value if row.target else "same",
        ", ".join(_words(action.__name__) for action in row.do),
        row.why,
    )
    return f"| {' | '.join(cells)} |"


def _words(name: str) -> str:
    return name.replace("_", " ")
