"""The server process of a hostile run: `python -m duologue.lab.torture.hostile_node`.

Rule: it has the limits of production, except for the HTTP time-outs and the number of conversations, which are lower so
that a short run reaches them.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--store", required=True)
    given = parser.parse_args()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from duologue.server.app import Server
    from duologue.server.leases import Leases
    from duologue.server.listening import bind_socket, server_url
    from duologue.server.run import run, serve
    from duologue.server.settings import Limits, ServerSettings
    from duologue.store.store_url import open_store

    from .hostile_agent import make_hostile_agent

    listening = bind_socket("127.0.0.1", given.port)
    leases = Leases(open_store(given.store), "hostile", server_url(listening))
    limits = Limits(conversations_max=200, request_s_max=5.0, drain_s_max=0.5)
    server = Server(make_hostile_agent(), ServerSettings(port=given.port, limits=limits), leases=leases)

    def ready() -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    run(serve(server, listening, ready))


def _end_with_parent() -> None:
    """Wait until the parent process has ended, then end this process. Standard input is a pipe from the parent, so
    reading it returns when the parent has ended."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
