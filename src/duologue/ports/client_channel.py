"""The port between an agent's program and the client program on the other side of the call: messages that the two
programs define themselves, and tools that the client runs.

Rule: only lines whose protocol has such messages offer this port. On other lines, methods that need it raise
NotPossible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from .worker import Tool


@dataclass(frozen=True, slots=True)
class ProgramMessage:
    """A message from the client's program to the agent's program. `data` is any value that JSON can represent."""

    type: str
    data: Any = None


class ClientChannel(Protocol):
    """A channel to the client's program, which some lines offer. It is used by the context of the call, and by tools
    that the client runs."""

    def send(self, data: object) -> None:
        """Send this to the client's program. `data` is any value that JSON can represent."""
        ...

    async def run(self, tool: Tool, arguments: dict[str, Any], call: int) -> str:
        """Let the client run this tool call, and return the output."""
        ...
