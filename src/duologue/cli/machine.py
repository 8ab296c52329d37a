"""`duologue rows` and `duologue diagram`: the state machine of a conversation as a list and as a diagram."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from duologue.core.errors import DuologueError
from duologue.core.machine import MACHINE

from .json_output import JsonOption, write_json

_OUT = Console()


def rows_command(
    match: Annotated[str, typer.Argument(help="List only rows whose text contains this.")] = "",
    as_json: JsonOption = False,
) -> None:
    """List the rows and rules of the core. Together they define how the state machine of a conversation behaves."""
    found = [(row.name, row.do.__name__ if row.do else "", row.why) for row in MACHINE.rows]
    found += [(f"rule: {rule.name}", rule.do.__name__, rule.why) for rule in MACHINE.rules]
    found = [entry for entry in found if match.lower() in " ".join(entry).lower()]
    if as_json:
        write_json({"rows": [{"row": name, "action": action, "why": why} for name, action, why in found]})
        return
    if not found:
        raise DuologueError(f"no row or rule contains {match!r}; `duologue rows` lists them all")
    table = Table("row", "does", "why", box=None, pad_edge=False, header_style="dim")
    for entry in found:
        table.add_row(*map(escape, entry))
    _OUT.print(table)


def diagram_command(
    view: Annotated[
        str | None, typer.Option(help="A view or a region; without it, the whole state machine is drawn.")
    ] = None,
    format: Annotated[  # noqa: A002 (the option's name)
        str, typer.Option(help="The format of the diagram: mermaid or svg.")
    ] = "mermaid",
) -> None:
    """Draw the state machine of a conversation, one of its regions or one of its views."""
    from duologue.draw import render

    sys.stdout.write(render(view, format))
