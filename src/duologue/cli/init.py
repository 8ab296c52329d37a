"""`duologue init`: writes a small project that runs, with tests that pass.

Rule: it ends with the commands to run next.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def init_command(
    folder: Annotated[Path, typer.Argument(help="The folder of the new project; it is created if it doesn't exist.")],
) -> None:
    """Write a small project: an agent, its flow and its tests."""
    from duologue.starter.write_project import write_project

    out = Console()
    for file in write_project(folder):
        out.print(f"  {file}", highlight=False)
    out.print(
        f"\n[bold]cd {folder}[/]\n[bold]duologue serve agent:agent[/]   talk to it in the browser\n"
        "[bold]pytest[/]                       whole calls on a simulated clock",
        highlight=False,
    )
