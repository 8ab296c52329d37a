"""The errand server for tests: as a process, on the web, or opened once for a whole module."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from duologue.ports import Job, ServiceError, Worker
from duologue.workers import McpServer
from tests.limits import TEST_S, WAIT_S
from tests.workers.worker_fakes import NotedJob

SCRIPT = str(Path(__file__).with_name("mcp_errand_server.py"))


WAYS = [(transport, dialect) for transport in ("stdio", "http") for dialect in ("auto", "legacy")]


Workers = dict[str, Worker]


T = TypeVar("T")


def by_process(**options: Any) -> McpServer:
    """The errand server as a process of its own, which may take long to start."""
    return McpServer.stdio(sys.executable, SCRIPT, open_ms_max=round(WAIT_S * 1000), **options)


class WebServer:
    """The errand server in its own process, on a free port that stays the same after a restart."""

    def __init__(self) -> None:
        self.port = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, SCRIPT, "http", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.port}{path}"


class Shop:
    """The errand server, open for a whole module; its event loop runs only during a test."""

    def __init__(self, server: McpServer, way: tuple[str, str]) -> None:
        self.way = way
        self._server = server
        self._runner = asyncio.Runner()
        self.run(server.open())
        self.workers = self.workers_of_another_caller()

    def workers_of_another_caller(self) -> Workers:
        """The same tools, for a caller of its own."""
        return {worker.tool.name: worker for worker in self._server.workers()}

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(asyncio.wait_for(work, WAIT_S))

    def close(self) -> None:
        self.run(self._server.close())
        self._runner.close()


def with_workers(server: McpServer, main: Callable[[Workers], Awaitable[None]]) -> None:
    """Run a test with its own server."""

    async def run() -> None:
        async with asyncio.timeout(TEST_S), server:
            await main({worker.tool.name: worker for worker in server.workers()})

    asyncio.run(run())


async def ask(worker: Worker, job: Job | None = None, **arguments: Any) -> object:
    return await worker.run(arguments, job or NotedJob())


async def failure_of(work: Awaitable[object]) -> ServiceError:
    with pytest.raises(ServiceError) as failed:
        await work
    return failed.value
