"""`duologue init`: a small project that runs, with tests that pass.

Rule: what to do next is said in three lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def init_command(
    folder: Annotated[Path, typer.Argument(help="Where to write it; the folder is made if it is not there.")],
) -> None:
    """Write a small project: an agent, its flow, its tests."""
    from duologue.starter.write_project import write_project

    out = Console()
    for file in write_project(folder):
        out.print(f"  {file}", highlight=False)
    out.print(
        f"\n[bold]cd {folder}[/]\n[bold]duologue serve agent:agent[/]   talk to it in the browser\n"
        "[bold]pytest[/]                       whole calls on a simulated clock",
        highlight=False,
    )
