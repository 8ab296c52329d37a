"""The process of one server of a torture run: `python -m duologue.lab.torture.node`.

The server is the same as the one that `duologue serve` runs, with two exceptions: its agent is scripted, and its wall
clock can be made to show a wrong time. Rule: nothing here may make the server more robust than in production.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
from pathlib import Path

from .shifted_clock import install


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--action-log", type=Path, required=True)
    parser.add_argument("--clock", type=Path, required=True)
    parser.add_argument("--ttl-ms", type=int, required=True)
    parser.add_argument("--drain-s", type=float, required=True)
    given = parser.parse_args()
    install(given.clock)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _serve(given)


def _end_with_parent() -> None:
    """Wait until the parent process has ended, then end this process. Standard input is a pipe from the parent, so
    reading it returns when the parent has ended."""
    sys.stdin.buffer.read()
    os._exit(1)


def _serve(given: argparse.Namespace) -> None:
    from duologue.server.app import Server
    from duologue.server.leases import Leases
    from duologue.server.listening import bind_socket, server_url
    from duologue.server.run import run, serve
    from duologue.server.settings import Limits, ServerSettings, many_at_one_address
    from duologue.store.store_url import open_store

    from .tortured_agent import ActionLog, make_agent

    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s.%(msecs)03d %(name)s: %(message)s",
        datefmt="%H:%M:%S",
        stream=sys.stderr,
    )
    listening = bind_socket("127.0.0.1", given.port)
    leases = Leases(open_store(given.store), given.name, server_url(listening), given.ttl_ms)
    limits = many_at_one_address(Limits(drain_s_max=given.drain_s), 1_000)  # all simulated users are on this machine
    agent = make_agent(ActionLog(given.action_log, given.name))
    server = Server(agent, ServerSettings(port=given.port, limits=limits), leases=leases)

    def ready() -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    run(serve(server, listening, ready))


if __name__ == "__main__":
    main()
