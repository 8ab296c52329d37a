"""`duologue flows walk`: random users talk to the flows of a file, and every law of the dialogue machine is checked
after every event.

Rule: if a law is broken, the dialogue that broke it is shown and the exit code is 1.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from .json_output import JsonOption, write_json
from .terminal_style import AMBER, GREEN, RED

if TYPE_CHECKING:
    from duologue.lab.sim.flow_walks import Broken, Walks

LINES_MAX = 40  # how many lines of a dialogue that broke a law are shown, the last ones


def walk_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A flow file (YAML).", show_default=False)],
    dialogues: Annotated[int, typer.Option(min=1, help="How many dialogues to play.")] = 1_000,
    seed: Annotated[
        int, typer.Option(help="The seed of the first dialogue; each further dialogue has the next number as its seed.")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Play random dialogues: report broken laws and steps that are never reached. Your functions aren't called."""
    from duologue.flows import load_flows
    from duologue.lab.sim.flow_walks import walk_flows

    domain = load_flows(file)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("dialogues", total=dialogues)
        found = walk_flows(domain, dialogues, seed, lambda done: bar.update(task, completed=done))
    if as_json:
        write_json(asdict(found))
    else:
        _show(file, found)
    if found.broken:
        raise typer.Exit(1)


def _show(file: Path, found: Walks) -> None:
    out = Console()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("dialogues", f"{found.dialogues:,}")
    table.add_row("events", f"{found.events:,}, each checked against every law")
    table.add_row("flows completed", f"{found.completed:,}")
    table.add_row("actions started", f"{found.actions:,}")
    table.add_row("CPU", f"{found.seconds:.1f} s")
    out.print(Text(str(file), style="bold"), soft_wrap=True)
    out.print(table)
    for flow, steps in found.unreached.items():
        reached = len(found.reached[flow])
        never = (f", never: {', '.join(steps)}", AMBER) if steps else ("", "")
        out.print(Text.assemble(f"{flow}: {reached} of {reached + len(steps)} steps reached", never), soft_wrap=True)
    for one in found.broken:
        _show_broken(out, one)
    if not found.broken:
        out.print(Text("no law was broken", style=GREEN))


def _show_broken(out: Console, one: Broken) -> None:
    times = f", {one.times} times" if one.times > 1 else ""
    out.print(Text.assemble((f"{one.law}: {one.message}", RED), f" (seed {one.seed}{times})"), soft_wrap=True)
    for line in one.dialogue[-LINES_MAX:]:
        out.print(Text(f"  {line}"[:200]), soft_wrap=True)
