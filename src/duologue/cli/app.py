"""The command line, `duologue`.

Rule: results go to standard output, everything for people while they wait to standard error; a
problem is one line and exit code 1, never a traceback.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from duologue import __version__
from duologue.check.core_check import Findings
from duologue.check.run import Report, run_check
from duologue.check.scopes import SCOPES
from duologue.core.errors import DuologueError
from duologue.core.machine import MACHINE
from duologue.core.settings import PROFILES
from duologue.replay.journal import read_journal, replay

from .bench import bench_app
from .chat import chat_command
from .flows import flows_app
from .init import init_command
from .kept import conversations_command, forget_command, nodes_command
from .listen import listen_command
from .models import models_app
from .nlu import nlu_app
from .phone import phone_command
from .say import say_command
from .serve import serve_command
from .simulate import simulate_command
from .slots import slots_command
from .talk import talk_command
from .timeline import timeline_command
from .torture import torture_command

app = typer.Typer(
    help="Voice agents whose conversations never get stuck.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(bench_app, name="bench")
app.add_typer(models_app, name="models")
app.add_typer(nlu_app, name="nlu")
app.add_typer(flows_app, name="flows")

out = Console()
err = Console(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Write one JSON object instead of a table.")]


def write_json(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    """Voice agents whose conversations never get stuck."""
    if version:
        out.print(f"duologue {__version__}")
        raise typer.Exit


# -- check


@app.command()
def check(
    profile: Annotated[list[str] | None, typer.Option(help="Only this profile; may be given again.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Less about words; for a test run.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Counters as shipped and two jobs; takes minutes.")] = False,
    as_json: Json = False,
) -> None:
    """Explore every reachable state and hold it against the laws, the promises and the views."""
    names = profile or list(PROFILES)
    unknown = [name for name in names if name not in PROFILES]
    if unknown:
        raise DuologueError(f"no profile {unknown[0]!r}; there are {', '.join(PROFILES)}")
    report = _run_check(names, "full" if full else "quick" if quick else "small")
    if as_json:
        write_json(report.to_json())
    else:
        _show_check(report)
    if not report.holds:
        raise typer.Exit(1)


def _run_check(names: list[str], size: str) -> Report:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("exploring", total=len(names) * len(SCOPES[size]))

        def advance(found: Findings) -> None:
            bar.update(task, advance=1)
            verdict = f"{len(found.violations)} violations" if found.violations else "no violation"
            bar.console.print(f"{found.profile}/{found.scope}: {found.states:,} states, {verdict}", highlight=False)

        return run_check(names, size, progress=advance)


def _show_check(report: Report) -> None:
    table = Table(title="Explored", title_justify="left")
    for column in ("profile", "scope", "states", "steps", "CPU s", "bounds"):
        table.add_column(column, justify="right" if column in ("states", "steps", "CPU s") else "left")
    for found in report.explorations:
        bounds = ", ".join(f"{name} {value}" for name, value in found.bounds.items())
        table.add_row(
            found.profile, found.scope, f"{found.states:,}", f"{found.steps:,}", f"{found.seconds:.1f}", bounds
        )
    out.print(table)
    data = report.to_json()
    out.print(f"rows fired      {data['rows_fired']} of {data['rows']}")
    out.print(f"rules fired     {data['rules_fired']} of {data['rules']}")
    out.print(f"promises tested {data['promises_tested']} of {data['promises']}")
    for name, view in report.views.items():
        verdict = "[green]honest[/]" if view["honest"] else "[red]not honest[/]"
        out.print(f"view {name:<13} {verdict}, {view['moves']} moves seen, {view['amendments']} amendments")
    if report.holds:
        out.print(f"[bold green]No violation[/] in {data['states']:,} states, {data['steps']:,} steps.")
    for violation in report.violations:
        out.print(f"[bold red]{violation.law}[/]: {escape(violation.message)}", highlight=False)
        for line in violation.trace:
            out.print(f"    {line}", markup=False, highlight=False)


# -- diagram


@app.command()
def diagram(
    view: Annotated[str | None, typer.Option(help="A view or a region; the whole machine if left out.")] = None,
    format: Annotated[str, typer.Option(help="mermaid or svg.")] = "mermaid",  # noqa: A002 (the option's name)
) -> None:
    """Draw the machine, a region or a view from its rows."""
    from duologue.draw import render

    sys.stdout.write(render(view, format))


# -- replay


@app.command("replay")
def replay_journal(file: Annotated[Path, typer.Argument(help="A journal.")], as_json: Json = False) -> None:
    """Replay a journal to the bit, or show the first difference."""
    from duologue.replay.timeline import read_timeline

    from .debugview import debug_view

    try:
        with file.open(encoding="utf-8") as lines:
            moments = list(replay(read_journal(lines)))
    except OSError as error:
        raise DuologueError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DuologueError(f"{file}: not a text file") from None
    except DuologueError as error:
        raise DuologueError(f"{file}: {error}") from None
    timeline = read_timeline(moments)
    if as_json:
        write_json({"file": str(file), "events": len(moments), "agrees": True, **timeline.to_json()})
        return
    out.print(debug_view(timeline))
    out.print(f"[bold green]{len(moments)} events, every digest agrees.[/]")


app.command("say")(say_command)
app.command("slots")(slots_command)
app.command("listen")(listen_command)
app.command("talk")(talk_command)
app.command("serve")(serve_command)
app.command("init")(init_command)
app.command("nodes")(nodes_command)
app.command("conversations")(conversations_command)
app.command("forget")(forget_command)
app.command("phone")(phone_command)
app.command("chat")(chat_command)
app.command("timeline")(timeline_command)
app.command("simulate")(simulate_command)
app.command("torture")(torture_command)


# -- rows


@app.command()
def rows(
    match: Annotated[str, typer.Argument(help="Only rows whose text contains this.")] = "",
    as_json: Json = False,
) -> None:
    """List the rows and rules: all behaviour of the machine."""
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
    out.print(table)


# -- demo


@app.command()
def demo(
    journal: Annotated[Path, typer.Option(help="Where to write the call's journal.")] = Path("build/demo.journal"),
    fast: Annotated[bool, typer.Option("--fast", help="No pause between scenes.")] = False,
) -> None:
    """Play a scripted call on a simulated clock, show its debug view, and replay it."""
    from .demo import run_demo

    journal.parent.mkdir(parents=True, exist_ok=True)
    run_demo(out, journal, fast)


def main() -> None:
    """Run the command line; a known problem is one line and exit code 1."""
    try:
        app()
    except DuologueError as error:
        err.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)
