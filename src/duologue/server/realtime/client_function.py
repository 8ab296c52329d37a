"""A tool that the client runs: a worker that sends the tool call to the client and waits for the client's output.

Rule: a tool call gets at most one output, and only while it is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from duologue.ports.worker import Job, Tool

from .facts import CallEnded, CallMade
from .items import arguments_text


class ClientCalls:
    """The open tool calls of one client. `tell` is called when a tool call is made and when it ends."""

    def __init__(self, tell: Callable[[CallMade | CallEnded], None]) -> None:
        self._tell = tell
        self._open: dict[int, asyncio.Future[str]] = {}

    async def run(self, tool: Tool, arguments: dict[str, Any], call: int) -> str:
        """Let the client run this tool call, and return the output."""
        output: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open[call] = output
        self._tell(CallMade(call, tool.name, arguments_text(arguments)))
        try:
            return await output
        finally:
            del self._open[call]
            self._tell(CallEnded(call))

    def give(self, call: int, output: str) -> None:
        """Complete an open tool call with this output from the client. Does nothing if the tool call isn't open."""
        if call in self._open and not self._open[call].done():
            self._open[call].set_result(output)


class ClientFunction:
    """The worker for one function that the client has offered as a tool."""

    def __init__(self, tool: Tool, calls: ClientCalls) -> None:
        self._tool = tool
        self._calls = calls

    @property
    def tool(self) -> Tool:
        return self._tool

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        return await self._calls.run(self._tool, arguments, job.call)
