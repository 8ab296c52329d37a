"""The port between a program and the client of its call: messages of the program's own, and tools that the client runs.

Rule: only lines whose protocol has such messages offer this port. On other lines, methods that need it raise
NotPossible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from .worker import Tool


@dataclass(frozen=True, slots=True)
class ProgramMessage:
    """A message of the client's program to the agent's program. `data` is any value that JSON can represent."""

    type: str
    data: Any = None


class ClientChannel(Protocol):
    """What the line of a call offers to the context of the call, and to tools that the client runs."""

    def send(self, data: object) -> None:
        """Send this to the client's program. `data` is any value that JSON can represent."""
        ...

    async def run(self, tool: Tool, arguments: dict[str, Any], call: int) -> str:
        """Let the client run this call of a tool, and return its output."""
        ...
