"""The proxies of a torture run, in a process of their own: what they pass on must not wait for the people.

`python -m duologue.lab.torture.proxies PORT…` starts one proxy for each port, prints the ports that they listen on, and
reads commands as lines of JSON. Rule: it ends when its standard input is closed.
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


class Doors:
    """The proxies, from the side of the run."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self.ports: list[int] = []

    async def start(self, behind: Sequence[int]) -> None:
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

    def do(self, door: int, what: str, amount: float = 0.0) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([door, what, amount]).encode() + b"\n")

    async def stop(self) -> None:
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
    doors = [Proxy(port) for port in behind]
    for door in doors:
        await door.start()
    sys.stdout.write(json.dumps([door.port for door in doors]) + "\n")
    sys.stdout.flush()
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        number, what, amount = json.loads(line)
        _do(doors[number], what, amount)
    for door in doors:
        await door.stop()


def _do(door: Proxy, what: str, amount: float) -> None:
    match what:
        case "cut":
            door.cut()
        case "stall":
            door.stall()
        case "swallow":
            door.swallow()
        case "shut":
            door.is_shut = True
            door.cut()
        case "delay":
            door.delay_s = amount
        case "heal":
            door.heal()
        case _:
            raise ValueError(what)


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
