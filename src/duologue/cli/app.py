"""The command line, `duologue`.

Rule: results go to standard output, and progress and notes to standard error. A problem is reported in one line with
exit code 1, never as a traceback.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from duologue import __version__
from duologue.core.errors import DuologueError

from .bench import bench_app
from .chat import chat_command
from .check import check_command
from .dev import dev_command
from .eval import eval_command
from .flows import flows_app
from .init import init_command
from .listen import listen_command
from .machine import diagram_command, rows_command
from .models import models_app
from .nlu import nlu_app
from .phone import phone_app
from .replay import replay_command
from .say import say_command
from .serve import serve_command
from .simulate import simulate_command
from .slots import slots_command
from .spoken import spoken_command
from .store_commands import conversations_command, forget_command, nodes_command
from .talk import talk_command
from .ticket import ticket_command
from .timeline import timeline_command
from .torture import torture_command
from .tune import tune_command

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
app.add_typer(phone_app, name="phone")

out = Console()
err = Console(stderr=True)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    """Voice agents whose conversations never get stuck."""
    if version:
        out.print(f"duologue {__version__}")
        raise typer.Exit


app.command("serve")(serve_command)
app.command("dev")(dev_command)
app.command("init")(init_command)
app.command("chat")(chat_command)
app.command("talk")(talk_command)
app.command("say")(say_command)
app.command("spoken")(spoken_command)
app.command("listen")(listen_command)
app.command("slots")(slots_command)
app.command("ticket")(ticket_command)
app.command("nodes")(nodes_command)
app.command("conversations")(conversations_command)
app.command("forget")(forget_command)
app.command("replay")(replay_command)
app.command("tune")(tune_command)
app.command("timeline")(timeline_command)
app.command("simulate")(simulate_command)
app.command("eval")(eval_command)
app.command("check")(check_command)
app.command("torture")(torture_command)
app.command("rows")(rows_command)
app.command("diagram")(diagram_command)


@app.command()
def demo(
    journal: Annotated[Path, typer.Option(help="Write the call's journal to this file.")] = Path("build/demo.journal"),
    fast: Annotated[bool, typer.Option("--fast", help="Don't pause between scenes.")] = False,
) -> None:
    """Play a scripted call on a simulated clock, show its debug view, and replay it."""
    from .demo import run_demo

    journal.parent.mkdir(parents=True, exist_ok=True)
    run_demo(out, journal, fast)


def main() -> None:
    """Run the command line. A DuologueError is printed as one line, and the exit code is then 1."""
    try:
        app()
    except DuologueError as error:
        err.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)
