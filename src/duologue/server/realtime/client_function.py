"""A tool that the client runs: a worker whose result comes from the client's socket.

Rule: a call gets at most one output, and only while it is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from duologue.ports.worker import Job, Tool

from .facts import CallEnded, CallMade
from .items import arguments_text


class ClientCalls:
    """The open calls of one client. `tell` is called when a call is made and when it ends."""

    def __init__(self, tell: Callable[[CallMade | CallEnded], None]) -> None:
        self._tell = tell
        self._open: dict[int, asyncio.Future[str]] = {}

    async def run(self, tool: Tool, arguments: dict[str, Any], call: int) -> str:
        """Let the client run this call, and return its output."""
        output: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open[call] = output
        self._tell(CallMade(call, tool.name, arguments_text(arguments)))
        try:
            return await output
        finally:
            del self._open[call]
            self._tell(CallEnded(call))

    def give(self, call: int, output: str) -> None:
        """Complete an open call with this output of the client."""
        if call in self._open and not self._open[call].done():
            self._open[call].set_result(output)


class ClientFunction:
    """The worker of one function of the client."""

    def __init__(self, tool: Tool, calls: ClientCalls) -> None:
        self._tool = tool
        self._calls = calls

    @property
    def tool(self) -> Tool:
        return self._tool

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        return await self._calls.run(self._tool, arguments, job.call)
