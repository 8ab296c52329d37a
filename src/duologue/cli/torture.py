"""`duologue torture`: kills, freezes and disconnects servers while simulated clients talk to them, or lets hostile
clients attack one server.

Rule: the result is a table and an exit code. A failed run also prints the command that repeats it and the folder of its
logs.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from duologue.core.errors import DuologueError

from .json_output import JsonOption, write_json
from .requirements import require_extras

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
    hostile: Annotated[
        bool,
        typer.Option(
            "--hostile", help="Instead of faults, let hostile clients attack one server that also has honest clients."
        ),
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown, for a page.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Kill and freeze servers, cut connections, disturb the store and the clocks. Then check that every conversation
    survived intact."""
    if hostile:
        _run_hostile(seed, minutes, markdown, as_json)
        return
    require_extras("the test", "server", "flows", *(() if store == "sqlite" else ("postgres",)))
    from duologue.lab.torture.report import rows
    from duologue.lab.torture.run import TorturePlan, play, run

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
        _print_table(f"Torture, seed {seed}", ("what", "found", "allowed"), rows(made.result), markdown)
    for failure in made.failures[:FAILURES_SHOWN]:
        err.print(
            f"{failure.check}: {failure.conversation}: {failure.what}", style="red", highlight=False, markup=False
        )
    if not made.holds:
        err.print(f"Run again: {plan.command}\nLogs and journals: {made.folder}", highlight=False, markup=False)
        raise typer.Exit(1)


def _run_hostile(seed: int, minutes: float, markdown: bool, as_json: bool) -> None:
    """Let hostile clients abuse the server: one kind of abuse after another, then all kinds at once. Meanwhile check
    the fairness law, that other clients are still answered in time."""
    require_extras("the test", "server", "flows")
    from duologue.lab.torture import hostile_run, hostile_verdict

    if sys.platform != "linux":
        raise DuologueError("--hostile needs Linux, where one machine has many loopback addresses")
    err = Console(stderr=True)
    plan = hostile_run.HostilePlan(seconds=minutes * 60, seed=seed)
    with err.status("without hostile clients") as status:

        def report(line: str) -> None:
            err.print(line, style="dim", highlight=False, markup=False)
            status.update(escape(f"after {line.partition(':')[0]}"))

        judged = asyncio.run(hostile_run.run_hostile(plan, report))
    if as_json:
        write_json(dict(hostile_verdict.as_json(judged)))
    else:
        rows = hostile_verdict.hostile_rows(judged)
        _print_table(f"Hostile clients, seed {seed}", hostile_verdict.COLUMNS, rows, markdown)
    broken = [one for one in judged if one.why]
    for one in broken:
        err.print(f"{one.phase.kind}: {one.why}", style="red", highlight=False, markup=False)
    if broken:
        raise typer.Exit(1)


def _print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], markdown: bool) -> None:
    if markdown:
        for line in (columns, ["---"] * len(columns), *rows):
            typer.echo(f"| {' | '.join(line)} |")
        return
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
