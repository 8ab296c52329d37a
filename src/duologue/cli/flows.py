"""`duologue flows`: checks, draws and tests flow files, and writes their schema for editors.

Rule: every problem of every file is reported on its own line. The exit code is 1 if a file is invalid or a story fails.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from duologue.core.errors import DuologueError

from .chat import find_nlu
from .flows_explain import explain_command
from .flows_walk import walk_command
from .json_output import JsonOption, write_json
from .terminal_style import AMBER, GREEN, RED

if TYPE_CHECKING:
    from duologue.flows import FlowFile, FlowProblem


class _Checked(NamedTuple):
    """A flow file after its check: its problems, and its content if it is valid."""

    path: Path
    file: FlowFile | None
    problems: tuple[FlowProblem, ...]
    more: int = 0  # how many further problems aren't listed


flows_app = typer.Typer(help="Check, draw and test flows: task dialogues in YAML.", no_args_is_help=True)
flows_app.command("walk")(walk_command)
flows_app.command("explain")(explain_command)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A flow file (YAML).", show_default=False)]
Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Flow files (YAML).", show_default=False)]


@flows_app.command("check")
def check_command(files: Files, as_json: JsonOption = False) -> None:
    """Check flow files, and list their contents and the functions they need; exit code 1 if a file is invalid."""
    from duologue.flows import InvalidFlows, read_flows

    found: list[_Checked] = []
    for path in (path for path in files if not path.name.endswith(".stories.yaml")):
        try:
            file = read_flows(path)
            found.append(_Checked(path, file, file.warnings))
        except InvalidFlows as error:
            found.append(_Checked(path, None, error.problems, error.more))
    if as_json:
        write_json({"files": [_file_json(each) for each in found]})
    else:
        for number, each in enumerate(found):
            if number:
                Console().print()
            _show_file(each)
    if any(each.file is None for each in found):
        raise typer.Exit(1)


@flows_app.command("draw")
def draw_command(
    file: File,
    flow: Annotated[str | None, typer.Option(help="Draw only this flow; without it, all of them.")] = None,
    format: Annotated[  # noqa: A002 (the option's name)
        str, typer.Option(help="The format of the chart: mermaid or svg.")
    ] = "mermaid",
    out: Annotated[
        Path | None,
        typer.Option(help="Write the chart to this file instead of standard output.", show_default=False),
    ] = None,
) -> None:
    """Draw flows as flow charts."""
    from duologue.flows import read_flows
    from duologue.flows.drawing import draw_flows

    drawn = draw_flows(read_flows(file), flow, format)
    if out is None:
        sys.stdout.write(drawn)
        return
    try:
        out.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise DuologueError(f"{out}: {error.strerror}") from None


@flows_app.command("schema")
def schema_command() -> None:
    """Write the JSON schema of flow files, for editors."""
    from duologue.flows import flow_schema

    write_json(flow_schema())


# -- Output


def _show_file(checked: _Checked) -> None:
    out = Console()
    for problem in checked.problems:
        out.print(Text(str(problem), style=AMBER if problem.is_warning else RED), soft_wrap=True)
    if checked.more:
        out.print(Text(f"and {checked.more} more problems", style=RED))
    file = checked.file
    if file is None:
        return
    out.print(Text.assemble((f"{checked.path}: ", "bold"), (_counts(file), GREEN)), soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for kind, names in _contents(file).items():
        if names:
            table.add_row(kind, Text(", ".join(names)))
    out.print(table)


def _counts(file: FlowFile) -> str:
    return f"{_counted(len(file.domain.written_flows), 'flow')}, {_counted(len(file.domain.slots), 'slot')}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _contents(file: FlowFile) -> dict[str, list[str]]:
    flows = [f"{flow.name} (hidden)" if flow.is_hidden else flow.name for flow in file.domain.written_flows]
    return {
        "flows": flows,
        "slots": [f"{slot.name} ({slot.kind})" for slot in file.domain.slots.values()],
        "actions": list(file.actions),
        "validators": list(file.validators),
        "normalisers": list(file.normalisers),
    }


def _file_json(checked: _Checked) -> dict[str, Any]:
    problems = [
        {"line": one.line, "path": one.path, "text": one.text, "level": "warning" if one.is_warning else "error"}
        for one in checked.problems
    ]
    file = checked.file
    if file is None:
        return {"file": str(checked.path), "valid": False, "problems": problems, "more": checked.more}
    flows = [
        {
            "name": flow.name,
            "description": flow.description,
            "hidden": flow.is_hidden,
            "slots": list(flow.slots),
            "steps": list(flow.places),
        }
        for flow in file.domain.flows.values()
    ]
    return {
        "file": str(checked.path),
        "valid": True,
        "flows": flows,
        "slots": {slot.name: slot.kind.value for slot in file.domain.slots.values()},
        "actions": list(file.actions),
        "validators": list(file.validators),
        "normalisers": list(file.normalisers),
        "problems": problems,
        "more": 0,
    }


@flows_app.command("test")
def play_command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Story files (*.stories.yaml).", show_default=False)
    ],
    nlu: Annotated[
        str, typer.Option(help="The NLU for messages that no grammar understands: words (no model) or local.")
    ] = "words",
    as_json: JsonOption = False,
) -> None:
    """Play stories: whole dialogues with the expected reply to every turn; exit code 1 if a story fails."""
    from duologue.flows import load_flows
    from duologue.flows.find_functions import find_functions
    from duologue.flows.stories import play_file, read_stories

    played: list[dict[str, Any]] = []
    for path in files:
        file = read_stories(path)
        functions = find_functions(file.flows, file.actions or None)
        outcomes = play_file(file, load_flows(file.flows), functions, find_nlu(nlu))
        played += [
            {"file": str(path), "story": one.story.name, "line": one.line, "problem": one.problem} for one in outcomes
        ]
    wrong = [one for one in played if one["problem"]]
    if as_json:
        write_json({"played": len(played), "wrong": len(wrong), "stories": played})
    else:
        out = Console()
        for one in played:
            mark, colour = ("✗", RED) if one["problem"] else ("✓", GREEN)
            place = f"  {one['file']}:{one['line']}: {one['problem']}" if one["problem"] else ""
            out.print(Text.assemble((f"{mark} ", colour), one["story"], place), soft_wrap=True)
    if wrong:
        raise typer.Exit(1)
