"""`duologue dev`: serves an agent while its developer works on it.

Saving a file starts a new process, and conversations go on in it. Failures of the developer's own code are shown with
their tracebacks, in the terminal and in the debug view. Rule: only this machine can connect, because tracebacks may
contain what a person said.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import tempfile
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from duologue.core.errors import DuologueError
from duologue.server.listening import bind_socket, server_url
from duologue.server.settings import Limits, ServerSettings

from .dev_parent import VARIABLE, DevParent, command_again
from .served_agent import ServeOptions, make_server
from .terminal_style import BLUE
from .terminal_tracebacks import print_traceback, show_tracebacks

if TYPE_CHECKING:
    from duologue.server.app import Server

DRAIN_S = 2.0
_ERR = Console(stderr=True, highlight=False)


def dev_command(
    app: Annotated[str, typer.Argument(help="The agent as module:agent, or a flow file.")],
    port: Annotated[int, typer.Option(help="The port to listen on; 0 chooses a free one.")] = 8765,
    journals: Annotated[Path | None, typer.Option(help="Write a journal of every conversation to this folder.")] = None,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve an agent while you work on it: reload on save, keep conversations, show tracebacks."""
    given = os.environ.get(VARIABLE, "")
    if given:
        _serve(app, journals, given)
        return
    from .serve import get_missing

    get_missing(app)
    listening = bind_socket("127.0.0.1", port)
    url = server_url(listening)

    def serving(is_first: bool) -> None:
        if not is_first:
            _ERR.print("[bold]reloaded[/]: conversations go on")
            return
        _ERR.print(f"\n  [bold]{escape(app)}[/] is at [bold cyan]{url}[/]")
        _ERR.print("  [dim]Save a file to reload it. Type here, or talk on the page. Ctrl-C stops.[/]\n")
        threading.Thread(target=_prompt, args=(url,), name="prompt", daemon=True).start()
        if browser:
            webbrowser.open(url)

    def tell(line: str) -> None:
        _ERR.print(f"[dim]{escape(line)}[/]")

    with tempfile.TemporaryDirectory(prefix="duologue-dev-") as folder:
        store = str(Path(folder, "conversations.db"))
        raise typer.Exit(DevParent(command_again(), listening, Path.cwd(), store, tell, serving).run())


def _prompt(url: str) -> None:
    """Send each line that is typed in this terminal to the agent, until the end of the input."""
    from .dev_prompt import DevPrompt

    prompt = DevPrompt(url, lambda text: _ERR.print(f"[{BLUE}]agent[/]  {escape(text)}", soft_wrap=True))
    for line in sys.stdin:
        if line.strip():
            prompt.type(line.strip())


# -- The server process


def _serve(app: str, journals: Path | None, given: str) -> None:
    """Make the server, and tell the parent process that this process is ready. Serve as soon as the parent process
    gives the command."""
    from duologue.server.run import run, serve

    listening_fd, ready, go, store = given.split(",", 3)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
    settings = ServerSettings("127.0.0.1", journals=journals, limits=Limits(drain_s_max=DRAIN_S), dev=True)
    listening = socket.socket(fileno=int(listening_fd))
    server = _made(ServeOptions(app, store, "", "", None, ""), settings, server_url(listening))
    os.write(int(ready), b"1")
    if not os.read(int(go), 1):  # the parent has ended, or has started a newer version
        return
    run(serve(server, listening, lambda: None))


def _made(options: ServeOptions, settings: ServerSettings, url: str) -> Server:
    """Make the server and load its models. If that fails, show the failure with its traceback and end this process."""
    try:
        server, _ = make_server(options, settings, url)
        server.conversations.load()
    except DuologueError as problem:
        if problem.__cause__ is not None:
            print_traceback("import", problem.__cause__)
        _ERR.print(f"[bold red]error:[/] {escape(str(problem))}", soft_wrap=True)
        sys.exit(1)
    except Exception as failure:  # noqa: BLE001 - the developer's code may raise anything
        print_traceback("start", failure)
        sys.exit(1)
    if server.conversations.leases is not None:
        server.conversations.leases.calls.agent = "dev"  # an edited agent takes over the conversations of the old one
    server.conversations.observers.append(show_tracebacks)
    return server
