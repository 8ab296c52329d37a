"""Runs a server in a separate process, for a benchmark that asks the server for its CPU time.

Rule: if the computer has at least two cores, the server and this process run on different cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from duologue.core.errors import DuologueError


class ServerTimes(NamedTuple):
    """The CPU time of a server so far, and how long it waited for its core, in seconds."""

    cpu_s: float
    waited_s: float  # how long it could have run, but other processes had its core


class TimedServer:
    """The process of a server."""

    def __init__(self, kind: str, core: int | None) -> None:
        command = [sys.executable, "-m", "duologue.lab.bench.served_process", kind]
        command += [str(core)] if core is not None else []
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self._read().strip()
        if not self.url.startswith("http"):
            raise DuologueError(
                "the server didn't start; are its packages missing? pip install 'duologue[server,speech]'"
            )

    def times(self) -> ServerTimes:
        """Ask the server for its times so far."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return ServerTimes(*map(float, self._read().split()))

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@contextmanager
def timed_server(kind: str) -> Iterator[TimedServer]:
    """Run a server of this kind: `phone` or `realtime`."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    server = TimedServer(kind, cores[0] if len(cores) > 1 else None)
    try:
        if len(cores) > 1:
            os.sched_setaffinity(0, {cores[1]})
        yield server
    finally:
        server.stop()
        if cores:
            os.sched_setaffinity(0, set(cores))
