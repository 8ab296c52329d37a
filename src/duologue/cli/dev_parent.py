"""The parent of `duologue dev`: it listens, watches files, and replaces the server process when a file has changed.

A new process first imports the agent and loads its models while the old one serves. Then the old one stores its
conversations and ends, and the new one takes them over at the same port. Rule: a version that can't be imported never
replaces one that works.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .watched_files import changed_files, read_stamps

VARIABLE = "DUOLOGUE_DEV"  # "listening socket,ready pipe,go pipe,store" of a server process
POLL_S = 0.25
STOP_S_MAX = 8.0


class DevProcess:
    """One server process, from its start to its end."""

    def __init__(self, command: Sequence[str], listening: socket.socket, store: str) -> None:
        ready_out, ready_in = os.pipe()
        go_out, self._go = os.pipe()
        self._ready = ready_out
        fds = (listening.fileno(), ready_in, go_out)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            pass_fds=fds,
            env={**os.environ, VARIABLE: ",".join(map(str, (*fds, store)))},
            process_group=0,  # Ctrl-C is for the parent
        )
        os.close(ready_in)
        os.close(go_out)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def code(self) -> int | None:
        """The exit code; None while the process runs."""
        return self._process.poll()

    def is_ready(self, wait_s: float) -> bool:
        """Wait until the process has imported its agent, but at most `wait_s` seconds. Returns whether it has."""
        readable, _, _ = select.select([self._ready], [], [], wait_s)
        return bool(readable) and os.read(self._ready, 1) == b"1"

    def go(self) -> None:
        """Tell the process to start serving."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._go, b"1")

    def stop(self) -> None:
        """Tell the process to store its conversations and end. If it takes too long, it is killed."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._ready)
        os.close(self._go)


class DevParent:
    """Runs server processes, one after another. `tell` prints a line for the developer."""

    def __init__(
        self,
        command: Sequence[str],
        listening: socket.socket,
        folder: Path,
        store: str,
        tell: Callable[[str], None],
        on_serving: Callable[[bool], None],
    ) -> None:
        self._start: Callable[[], DevProcess] = lambda: DevProcess(command, listening, store)
        self._folder = folder
        self._tell = tell
        self._on_serving = on_serving  # called with whether it is the first process that serves
        self._serving: DevProcess | None = None
        self._next: DevProcess | None = None
        self._stamps: Mapping[Path, tuple[int, int]] = {}
        self._stops = False

    def run(self) -> int:
        """Run until SIGTERM or Ctrl-C. Returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "_stops", True))
        self._stamps = read_stamps(self._folder)
        self._next = self._start()
        try:
            while not self._stops:
                self._turn()
        finally:
            for process in (self._next, self._serving):
                if process is not None:
                    process.stop()
        return 0

    def _turn(self) -> None:
        """Do one round of the loop: wait a little, let the new process serve if it is ready, and start a new process if
        a file has changed."""
        if self._next is None:
            time.sleep(POLL_S)
        elif self._next.is_ready(POLL_S):
            self._replace(self._next)
        elif not self._next.is_running:
            self._next.stop()
            self._next = None
            goes_on = "the last version that worked goes on" if self._serving is not None else "nothing is served yet"
            self._tell(f"{goes_on}; save a file to try again")
        if self._serving is not None and not self._serving.is_running:
            self._tell(f"the server has ended with exit code {self._serving.code}; save a file to start it again")
            self._serving.stop()
            self._serving = None
        self._restart_if_changed()

    def _replace(self, ready: DevProcess) -> None:
        is_first = self._serving is None
        if self._serving is not None:
            self._serving.stop()
        self._serving, self._next = ready, None
        ready.go()
        self._on_serving(is_first)

    def _restart_if_changed(self) -> None:
        now = read_stamps(self._folder)
        changed = changed_files(self._stamps, now)
        if not changed:
            return
        self._stamps = now
        names = ", ".join(str(path.relative_to(self._folder)) for path in changed[:3])
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        self._tell(f"{names}{more} changed")
        if self._next is not None:
            self._next.stop()
        self._next = self._start()


def command_again() -> tuple[str, ...]:
    """The command line that starts a server process: the same command with the same arguments."""
    return (sys.executable, "-P", "-m", "duologue", *sys.argv[1:])  # -P: files of this folder hide no modules
