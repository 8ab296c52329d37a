"""`duologue init`: writes a small project that runs and whose tests pass, or one of the examples.

Rule: the command prints what to install and what to run next.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from duologue.core.errors import DuologueError

from .requirements import Requirements, requirements_of

_OUT = Console()
_AGENT = re.compile(r"^(agent = |(async )?def agent\()", re.MULTILINE)  # an agent, or a function that makes one


def init_command(
    folder: Annotated[
        Path | None, typer.Argument(help="The folder to write to; with --example, the example's name if left out.")
    ] = None,
    example: Annotated[
        str, typer.Option(help="Write this example instead of the starter project; 'list' prints their names.")
    ] = "",
) -> None:
    """Write a small project (an agent, its flow and its tests), or one of the examples."""
    from duologue.starter.write_project import example_names, write_example, write_project

    if example == "list":
        _OUT.print("\n".join(example_names()), highlight=False)
        return
    if folder is None and not example:
        raise DuologueError("name the folder for the new project, for example: duologue init my-agent")
    target = folder or Path(example)
    files = write_example(example, target) if example else write_project(target)
    for file in files:
        _OUT.print(Text(f"  {file}"), soft_wrap=True)
    _OUT.print()
    for command, what in _next_steps(target, files, bool(example)):
        padding = " " * (44 - len(command)) if what else ""
        _OUT.print(Text.assemble((command, "bold"), padding, " ", what), soft_wrap=True)


def _next_steps(folder: Path, files: tuple[Path, ...], is_example: bool) -> list[tuple[str, str]]:
    """The commands to run next, each with what it does. Commands that install something come first."""
    sources = "\n".join(file.read_text(encoding="utf-8") for file in files if file.suffix == ".py")
    modules = [file for file in files if file.suffix == ".py" and not file.name.startswith("test_")]
    agents = [file.stem for file in modules if _AGENT.search(file.read_text(encoding="utf-8"))]
    flows = [file.name for file in files if file.suffix == ".yaml" and ".stories." not in file.name]
    extras = [*(["server"] if agents else []), *(["flows"] if flows else []), *([] if is_example else ["testing"])]
    missing = requirements_of(sources, extras).missing()
    steps = [(install, "what it needs") for install in Requirements(missing.extras).commands()]
    steps.append((f"cd {folder}", ""))
    if '"LLM_KEY"' in sources:
        steps.append(("export OPENAI_API_KEY=…", "or LLM_URL, LLM_MODEL and LLM_KEY for another server"))
    steps += [(f"duologue serve {agent}:agent", "talk to it in the browser") for agent in agents]
    steps += [(f"duologue chat {file}", "type to it") for file in flows]
    return [*steps, *([] if is_example else [("pytest", "whole calls on a simulated clock")])]
