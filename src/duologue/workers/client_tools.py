"""Tools that the client runs, such as a web page that knows where its user is.

A function declares the tool by its type hints and its docstring. The body of this function is never run. Rule: if the
client can't run tools, the tool call fails at once, and the brain gets the reason.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, overload

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, ServiceError, Tool
from duologue.ports.context import NotPossible

from .function_tools import Declared, ModeName, declare_tool


class ClientTool:
    """The worker for a tool that the client runs. The arguments of a tool call are checked before they are sent to the
    client."""

    def __init__(self, declared: Declared) -> None:
        self._tool = declared.tool
        self._contract = declared.contract

    @property
    def tool(self) -> Tool:
        return self._tool

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        self._contract.check(arguments)
        if job.context is None:
            raise ServiceError(
                ErrorClass.TOOL_ERROR, f"{self._tool.name} runs on a client, so it can be used only in a conversation"
            )
        try:
            client = job.context.client
        except NotPossible as why:
            raise ServiceError(ErrorClass.TOOL_ERROR, f"the client can't run {self._tool.name}: {why}") from None
        return await client.run(self._tool, arguments, job.call)


@overload
def client_tool(function: Callable[..., Any], /) -> ClientTool: ...
@overload
def client_tool(
    *, name: str | None = None, description: str | None = None, mode: ModeName = "tool", cancellable: bool = False
) -> Callable[[Callable[..., Any]], ClientTool]: ...
def client_tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    mode: ModeName = "tool",
    cancellable: bool = False,
) -> ClientTool | Callable[[Callable[..., Any]], ClientTool]:
    """Declare a tool that the client runs: write `@client_tool` above a function with type hints and a docstring. The
    function needs no further code, because it is never run."""
    around = sys._getframe(1).f_locals  # type hints may use names that are local to the caller

    def declare(function: Callable[..., Any]) -> ClientTool:
        return ClientTool(declare_tool(function, around, name, description, mode, cancellable))

    return declare if function is None else declare(function)
