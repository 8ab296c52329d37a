"""The command line, `duologue`.

A command's module is imported when that command is used, so that every command starts quickly. Rule: results go to
standard output, and progress and notes to standard error. A problem is reported in one line with exit code 1, never as
a traceback.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from duologue import __version__
from duologue.core.errors import DuologueError
from duologue.core.views import PHASE

from .view_option import ViewOption, view_named

GROUPS = ("bench", "models", "nlu", "flows", "phone")  # each is `NAME_app` in the module of its name
COMMANDS = {  # the name of a command, and the module that has `NAME_command`
    "serve": "serve",
    "dev": "dev",
    "init": "init",
    "chat": "chat",
    "talk": "talk",
    "say": "say",
    "spoken": "spoken",
    "listen": "listen",
    "slots": "slots",
    "ticket": "ticket",
    "nodes": "store_commands",
    "conversations": "store_commands",
    "forget": "store_commands",
    "replay": "replay",
    "tune": "tune",
    "timeline": "timeline",
    "simulate": "simulate",
    "eval": "eval",
    "check": "check",
    "torture": "torture",
    "rows": "machine",
    "diagram": "machine",
}

out = Console()
err = Console(stderr=True)


def root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    """Voice agents whose conversations never get stuck."""
    if version:
        out.print(f"duologue {__version__}")
        raise typer.Exit


def demo(
    journal: Annotated[Path, typer.Option(help="Write the call's journal to this file.")] = Path("build/demo.journal"),
    fast: Annotated[bool, typer.Option("--fast", help="Don't pause between scenes.")] = False,
    view: ViewOption = PHASE.name,
) -> None:
    """Play a scripted call on a simulated clock, show its debug view, and replay it."""
    from .demo import run_demo

    seen = view_named(view)
    journal.parent.mkdir(parents=True, exist_ok=True)
    run_demo(out, journal, fast, seen)


def make_app(only: str = "") -> typer.Typer:
    """Build the command line with all commands. If `only` is given, add just the command or group with that name, and
    `demo`."""
    made = typer.Typer(
        help="Voice agents whose conversations never get stuck.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    made.callback(invoke_without_command=True)(root)
    for name in GROUPS:
        if only in (name, ""):
            made.add_typer(_found(name, f"{name}_app"), name=name)
    for name, module in COMMANDS.items():
        if only in (name, ""):
            made.command(name)(_found(module, f"{name}_command"))
    made.command("demo")(demo)
    return made


def _found(module: str, name: str) -> Any:
    return getattr(import_module(f"{__package__}.{module}"), name)


@functools.cache
def _whole_app() -> typer.Typer:
    return make_app()


def __getattr__(name: str) -> Any:
    """Make `app`, with all commands, when it is first used."""
    if name == "app":
        return _whole_app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command line. A DuologueError is printed as one line, and the exit code is then 1. If the developer's own
    code raises, its traceback is printed without Duologue's frames."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    is_known = first in GROUPS or first in COMMANDS or first in ("demo", "--version")
    try:
        make_app(first if is_known else "")()
    except DuologueError as error:
        err.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)
    except Exception as failure:
        from .terminal_tracebacks import print_own_traceback

        if not print_own_traceback(failure):
            raise
        sys.exit(1)
