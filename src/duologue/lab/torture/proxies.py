"""The proxies of a torture run, in their own process, so that the simulated people don't slow them down.

`python -m duologue.lab.torture.proxies PORT…` starts one proxy for each port, prints the ports that they listen on, and
reads commands as lines of JSON. Rule: the process ends when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import duologue

from .proxy import Proxy

START_S_MAX = 30.0


class ProxyProcess:
    """The process of all proxies: starts it and sends it commands."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self.ports: list[int] = []

    async def start(self, behind: Sequence[int]) -> None:
        """Start the process, with one proxy for each of these ports. Sets `ports` to the ports that the proxies listen
        on."""
        source = str(Path(duologue.__file__).parent.parent)
        path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH", ""))))
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "duologue.lab.torture.proxies", *map(str, behind)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(START_S_MAX):
            self.ports = json.loads(await self._process.stdout.readline())

    def do(self, proxy: int, what: str, amount: float = 0.0) -> None:
        """Send a command to the proxy with this index: cut, stall, swallow, shut, delay (by `amount` seconds) or
        heal."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([proxy, what, amount]).encode() + b"\n")

    async def stop(self) -> None:
        """End the process."""
        if self._process is not None and self._process.returncode is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                async with asyncio.timeout(5):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()


async def _obey(behind: Sequence[int]) -> None:
    proxies = [Proxy(port) for port in behind]
    for proxy in proxies:
        await proxy.start()
    sys.stdout.write(json.dumps([proxy.port for proxy in proxies]) + "\n")
    sys.stdout.flush()
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        number, what, amount = json.loads(line)
        _do(proxies[number], what, amount)
    for proxy in proxies:
        await proxy.stop()


def _do(proxy: Proxy, what: str, amount: float) -> None:
    match what:
        case "cut":
            proxy.cut()
        case "stall":
            proxy.stall()
        case "swallow":
            proxy.swallow()
        case "shut":
            proxy.is_shut = True
            proxy.cut()
        case "delay":
            proxy.delay_s = amount
        case "heal":
            proxy.heal()
        case _:
            raise ValueError(f"unknown command {what!r}")


def main() -> None:
    behind = [int(port) for port in sys.argv[1:]]
    try:
        import uvloop
    except ModuleNotFoundError:
        asyncio.run(_obey(behind))
    else:
        uvloop.run(_obey(behind))


if __name__ == "__main__":
    main()
