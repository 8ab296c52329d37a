"""`duologue serve` with several processes: runs the parent process, or one of its server processes.

A server process is started with the command line of its parent. Rule: the parent has no agent and no models.
"""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from duologue.server.listening import server_url

from .served_agent import ServeOptions, make_server

if TYPE_CHECKING:
    from duologue.server.settings import ServerSettings


def run_processes(listening: socket.socket, count: int, token: str, announce: Callable[[Sequence[str]], None]) -> int:
    """Run a parent with this many server processes. Returns the exit code of the parent."""
    from duologue.server.processes.parent import Parent, run_parent, wait_for_requests

    wait_for_requests(listening)
    command = (sys.executable, "-P", "-m", "duologue", *sys.argv[1:])  # -P: files of this folder hide no modules
    return run_parent(Parent(listening, command, count, url=server_url(listening), token=token, announce=announce))


def serve_process(options: ServeOptions, settings: ServerSettings, keep_days: int) -> None:
    """Serve the connections that the parent process passes to this one, until the parent tells it to stop. Each line of
    the log contains the number of this process."""
    from duologue.server.processes.link import link_to_parent
    from duologue.server.run import run, serve_for_parent

    link = link_to_parent()
    name = f"%(name)s[{link.welcome.process + 1}]"
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {name}: %(message)s", datefmt="%H:%M:%S")
    settings = replace(settings, token=link.welcome.token)
    server, served = make_server(options, settings, link.welcome.url, link)
    run(serve_for_parent(server, link, served, keep_days))
