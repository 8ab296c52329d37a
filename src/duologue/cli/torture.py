"""`duologue torture`: kills, freezes and disconnects servers while simulated clients talk to them.

Rule: the result is a table and an exit code. A failed run also prints the command that repeats it and the folder of its
logs.
"""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from duologue.core.errors import DuologueError

from .json_output import JsonOption, write_json

FAILURES_SHOWN = 20


def torture_command(
    nodes: Annotated[int, typer.Option(min=1, max=12, help="How many servers share the store.")] = 3,
    conversations: Annotated[int, typer.Option(min=1, help="How many conversations run at once.")] = 50,
    seed: Annotated[int, typer.Option(help="The seed of the faults; the same seed gives the same faults.")] = 7,
    minutes: Annotated[float, typer.Option(min=0.05, help="For how many minutes faults are injected.")] = 2.0,
    store: Annotated[
        str,
        typer.Option(help="The store: postgresql://…, or sqlite for one node; without it, a temporary PostgreSQL."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Kill and freeze servers, cut connections, disturb the store and the clocks, then check every conversation."""
    try:
        from duologue.lab.torture.report import rows
        from duologue.lab.torture.run import TorturePlan, play, run
    except ModuleNotFoundError as missing:
        raise DuologueError(f"{missing}: pip install 'duologue[server,flows,postgres]'") from None
    err = Console(stderr=True)
    plan = TorturePlan(nodes, conversations, seed, minutes * 60, store)
    with err.status("starting") as status:

        def report(text: str) -> None:
            err.print(text, style="dim", highlight=False, markup=False)
            status.update(escape(text))

        made = play(run(plan, report))
    if as_json:
        write_json(made.result)
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
        err.print(f"Run again: {plan.command}\nLogs and journals: {made.folder}", highlight=False, markup=False)
        raise typer.Exit(1)
