"""Servers that provide tools, such as an McpServer, shared by all conversations of this process.

Rule: a source is opened for the first conversation that needs it and closed after the last one. A source that the
program has opened itself stays open.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from .agent import ToolSource


@dataclass(slots=True, eq=False)
class _Use:
    """How many conversations use one source."""

    source: ToolSource
    is_own: bool  # opened here, and so closed here
    users: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # one open or close at a time


class ToolSources:
    """The sources in use, each with the number of its users."""

    def __init__(self) -> None:
        self._uses: dict[int, _Use] = {}

    async def take(self, source: ToolSource) -> ToolSource:
        """Use this source, and open it if it isn't open. Returns the source to use: a copy if each conversation
        needs a connection of its own. If it can't be opened, it isn't taken."""
        own = getattr(source, "for_one_conversation", None)
        source = own() if callable(own) else source
        use = self._uses.setdefault(id(source), _Use(source, is_own=not source.is_connected))
        use.users += 1
        try:
            async with use.lock:
                if not source.is_connected:
                    await source.open()
        except BaseException:
            self._leave(use)
            raise
        return source

    async def release(self, source: ToolSource) -> None:
        """Stop using this source. The last user closes it."""
        use = self._uses[id(source)]
        try:
            if use.is_own and use.users == 1:
                async with use.lock:
                    if use.users == 1:  # check again: another conversation may use it by now
                        await source.close()
        finally:
            self._leave(use)

    def _leave(self, use: _Use) -> None:
        use.users -= 1
        if use.users == 0:
            del self._uses[id(use.source)]


TOOL_SOURCES = ToolSources()
