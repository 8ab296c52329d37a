"""`duologue torture`: servers are killed, frozen and cut off while people talk to them.

Rule: the verdict is a table and an exit code; a run that fails says how to run it again, and where its logs are.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from duologue.core.errors import DuologueError

FAILURES_SHOWN = 20


def torture_command(
    nodes: Annotated[int, typer.Option(min=1, max=12, help="How many servers share the store.")] = 3,
    conversations: Annotated[int, typer.Option(min=1, help="How many people talk at once.")] = 50,
    seed: Annotated[int, typer.Option(help="The same seed, the same faults.")] = 7,
    minutes: Annotated[float, typer.Option(min=0.05, help="How long the faults go on.")] = 2.0,
    store: Annotated[
        str, typer.Option(help="postgresql://…, or sqlite for one node; if left out, a private PostgreSQL.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object instead of a table.")] = False,
) -> None:
    """Kill servers, freeze them, cut lines, hurt the store, set clocks wrong; then look what became of everybody."""
    try:
        from duologue.lab.torture.report import rows
        from duologue.lab.torture.run import TorturePlan, play, run
    except ModuleNotFoundError as missing:
        raise DuologueError(f"{missing}: pip install 'duologue[server,flows,postgres]'") from None
    err = Console(stderr=True)
    plan = TorturePlan(nodes, conversations, seed, minutes * 60, store)
    with err.status("starting") as status:

        def tell(text: str) -> None:
            err.print(text, style="dim", highlight=False, markup=False)
            status.update(escape(text))

        made = play(run(plan, tell))
    if as_json:
        sys.stdout.write(json.dumps(made.result, indent=2) + "\n")
    else:
        table = Table("what", "found", "allowed", title=f"Torture, seed {seed}", title_justify="left")
        for row in rows(made.result):
            table.add_row(*row)
        Console().print(table)
    for failure in made.failures[:FAILURES_SHOWN]:
        err.print(
            f"{failure.check}: {failure.conversation}: {failure.what}", style="red", highlight=False, markup=False
        )
    if not made.holds:
        err.print(f"Again: {plan.command}\nLogs and journals: {made.folder}", highlight=False, markup=False)
        raise typer.Exit(1)
