"""One of several server processes that `duologue bench server --workers` measures: `python -m …measured_process`.

The arguments are the address of the benchmark's socket, 1 or 0 (with or without VAD), the maximum number of
conversations, and the path of the store. Rule: the process serves the connections that its parent passes on, exactly as
a process of `duologue serve` does.
"""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Client

from duologue.server.processes.link import link_to_parent

from .measured_server import run_served


def main(address: str, vad: str, sessions_max: str, store: str) -> None:
    with Client(address, "AF_UNIX") as pipe:
        pipe.send(os.getpid())
        run_served(pipe, None, vad == "1", int(sessions_max), store, link_to_parent(), measures_lag=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
