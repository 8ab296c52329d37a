"""The servers of a torture run: processes that can be killed, frozen, drained and started again.

Rule: signals go only to processes that were started here, each by its own id.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import duologue
from duologue.core.errors import DuologueError

START_S_MAX = 180.0  # on a busy machine
STOP_S_MAX = 30.0


class NodeProcess:
    """One server of a run: a fixed port, and the process that listens on it. Every start makes a new process."""

    def __init__(self, letter: str, folder: Path, ttl_ms: int, drain_s: float) -> None:
        self.letter = letter
        self.port = free_port()
        self.life = 0
        self.is_frozen = False
        self.is_ready = False
        self.store = ""
        self.log = folder / f"node-{letter}.log"
        self._action_log = folder / "actions.jsonl"
        self._clock = folder / f"clock-{letter}"
        self._more = ("--ttl-ms", str(ttl_ms), "--drain-s", str(drain_s))
        self._process: asyncio.subprocess.Process | None = None

    @property
    def name(self) -> str:
        """The name of the current process. Each start gets a new name."""
        return f"{self.letter}{self.life}"

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start a process and return when it listens. Raises `DuologueError` if it ends before that."""
        assert not self.is_running
        self.life += 1
        self.is_ready = False
        source = str(Path(duologue.__file__).parent.parent)
        path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH", ""))))
        with self.log.open("ab") as log:
            log.write(f"-- {self.name}\n".encode())
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "duologue.lab.torture.node", "--name", self.name, "--port", str(self.port)),
                *(
                    "--store",
                    self.store,
                    "--action-log",
                    str(self._action_log),
                    "--clock",
                    str(self._clock),
                    *self._more,
                ),
                stdin=asyncio.subprocess.PIPE,  # the node ends when this pipe is closed
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": path},
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(START_S_MAX):
            said = await self._process.stdout.readline()
        if said != b"ready\n":
            raise DuologueError(f"node {self.name} didn't start; see {self.log}")
        self.is_ready = True

    async def start_with_retries(self) -> None:
        """Start a process again and again until one listens, as a process supervisor does. This is needed because the
        store may be unreachable for a while."""
        while True:
            try:
                await self.start()
                return
            except DuologueError:
                assert self._process is not None
                await self._process.wait()
                await asyncio.sleep(0.3)

    async def kill(self) -> None:
        """End the process with SIGKILL."""
        await self._end(signal.SIGKILL)

    async def drain(self) -> None:
        """Send SIGTERM, and wait until the node has handed its conversations over and ended by itself."""
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        self.thaw()
        if self._process is not None and self.is_running:
            self._process.send_signal(how)
            try:
                async with asyncio.timeout(STOP_S_MAX):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
                raise DuologueError(f"node {self.name} didn't end within {STOP_S_MAX:.0f} s; see {self.log}") from None

    def freeze(self) -> None:
        """Pause the process with SIGSTOP until `thaw` is called."""
        if self._process is not None and self.is_running:
            self.is_frozen = True
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process continue."""
        if self._process is not None and self.is_frozen and self.is_running:
            self._process.send_signal(signal.SIGCONT)
        self.is_frozen = False

    def set_clock(self, off_s: int) -> None:
        """Make the node's wall clock differ from the real time by this many seconds."""
        self._clock.write_text(str(off_s), encoding="ascii")
        if self._process is not None and self.is_running and self.is_ready:
            self._process.send_signal(signal.SIGUSR1)


def free_port() -> int:
    """A TCP port of this computer that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
