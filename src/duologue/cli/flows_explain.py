"""`duologue flows explain`: which interpreter understands a message, and why.

Rule: the interpreters are printed in the order in which a conversation tries them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .json_output import JsonOption, write_json
from .terminal_style import GREEN

if TYPE_CHECKING:
    from duologue.flows.explain import Explanation


def explain_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A flow file (YAML).", show_default=False)],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the user says.", show_default=False)],
    slot: Annotated[
        str, typer.Option(help="The slot that the agent has asked for; without it, no question is open.")
    ] = "",
    today: Annotated[str | None, typer.Option(help="Use this ISO date as today.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show which interpreter handles a message and what the message leads to. Neither NLU nor your functions are
    called."""
    from duologue.flows import load_flows
    from duologue.flows.caller_clock import today_in
    from duologue.flows.explain import explain

    domain = load_flows(file)
    found = explain(domain, text, today or today_in(domain.time_zone)(), slot)
    if as_json:
        write_json(asdict(found))
    else:
        _show(found)


def _show(found: Explanation) -> None:
    out = Console()
    out.print(Text(found.question or "no question is open", style="bold"), soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    for one in found.tried:
        style = GREEN if one.took else "dim"
        table.add_row(Text("took it" if one.took else "", style=style), Text(one.name, style=style), Text(one.about))
    out.print(table)
    for name, value in found.filled.items():
        out.print(Text(f"{name} = {json.dumps(value, ensure_ascii=False)}"), soft_wrap=True)
    if found.said:
        out.print(Text(found.said), soft_wrap=True)
    if found.asks_nlu:
        out.print(Text("NLU decides what it means", style="dim"))
