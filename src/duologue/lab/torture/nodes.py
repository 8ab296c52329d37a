"""The servers of a torture run, each a process that can be killed, frozen, told to stop, and started again.

Rule: only processes that were started here are touched, each by its own id.
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

START_S_MAX = 60.0
STOP_S_MAX = 30.0


class NodeProcess:
    """One place where a server runs, one process after the other."""

    def __init__(self, letter: str, folder: Path, ttl_ms: int, drain_s: float) -> None:
        self.letter = letter
        self.port = free_port()
        self.life = 0
        self.is_frozen = False
        self.is_ready = False
        self.store = ""
        self.log = folder / f"node-{letter}.log"
        self._ledger = folder / "ledger.jsonl"
        self._clock = folder / f"clock-{letter}"
        self._more = ("--ttl-ms", str(ttl_ms), "--drain-s", str(drain_s))
        self._process: asyncio.subprocess.Process | None = None

    @property
    def name(self) -> str:
        """Each life has its own."""
        return f"{self.letter}{self.life}"

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Returns when it listens."""
        assert not self.is_running
        self.life += 1
        self.is_ready = False
        source = str(Path(duologue.__file__).parent.parent)
        path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH", ""))))
        with self.log.open("ab") as log:
            log.write(f"-- {self.name}\n".encode())
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "duologue.lab.torture.node", "--name", self.name, "--port", str(self.port)),
                *("--store", self.store, "--ledger", str(self._ledger), "--clock", str(self._clock), *self._more),
                stdin=asyncio.subprocess.PIPE,  # its end is the end of whoever started it
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": path},
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(START_S_MAX):
            said = await self._process.stdout.readline()
        if said != b"ready\n":
            raise DuologueError(f"node {self.name} did not start; see {self.log}")
        self.is_ready = True

    async def start_at_last(self) -> None:
        """Again and again, as whoever looks after servers does: the store may be away."""
        while True:
            try:
                await self.start()
                return
            except DuologueError:
                assert self._process is not None
                await self._process.wait()
                await asyncio.sleep(0.3)

    async def kill(self) -> None:
        """kill -9."""
        await self._end(signal.SIGKILL)

    async def drain(self) -> None:
        """SIGTERM: it hands its conversations over and ends by itself."""
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
                raise DuologueError(f"node {self.name} did not end within {STOP_S_MAX:.0f} s") from None

    def freeze(self) -> None:
        if self._process is not None and self.is_running:
            self.is_frozen = True
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        if self._process is not None and self.is_frozen and self.is_running:
            self._process.send_signal(signal.SIGCONT)
        self.is_frozen = False

    def set_clock(self, off_s: int) -> None:
        """Its wall clock jumps."""
        self._clock.write_text(str(off_s), encoding="ascii")
        if self._process is not None and self.is_running and self.is_ready:
            self._process.send_signal(signal.SIGUSR1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
