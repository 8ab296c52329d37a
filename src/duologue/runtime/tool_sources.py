"""Servers that provide tools, such as an McpServer, shared by all conversations of this process.

Rule: a source is opened for the first conversation that needs it and closed after the last one. A source that the
program has opened itself stays open. A source that is slow to close doesn't delay any conversation: after CLOSE_S_MAX,
it continues to close in the background.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from .agent import ToolSource

LOG = logging.getLogger("duologue")
CLOSE_S_MAX = 0.9  # how long the end of a conversation waits for a source to close
GIVE_UP_S_MAX = 10.0  # how long a source may go on closing in the background


@dataclass(slots=True, eq=False)
class _Use:
    """A source, and how many conversations use it."""

    source: ToolSource
    is_own: bool  # opened here, and so closed here
    users: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # one open or close at a time


class ToolSources:
    """The sources that are in use, each with the number of conversations that use it."""

    def __init__(self) -> None:
        self._uses: dict[int, _Use] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def take(self, source: ToolSource) -> ToolSource:
        """Use this source for a conversation, and open it if it isn't open. Returns the source to use: this one, or a
        copy if each conversation needs its own connection. If opening fails, the exception is raised, and the source
        isn't in use."""
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

    async def release(self, *sources: ToolSource) -> None:
        """Stop using these sources. The last user of a source closes it. Returns when all of them are closed, or after
        CLOSE_S_MAX. A source that can't be closed is logged."""
        closing = {asyncio.create_task(self._release(self._uses[id(source)]), name="close") for source in sources}
        for task in closing:
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        if closing:
            await asyncio.wait(closing, timeout=CLOSE_S_MAX)

    async def _release(self, use: _Use) -> None:
        try:
            if use.is_own and use.users == 1:
                async with asyncio.timeout(GIVE_UP_S_MAX), use.lock:
                    if use.users == 1:  # check again: another conversation may use it by now
                        await use.source.close()
        except Exception as failure:  # noqa: BLE001 - the conversation is over anyway
            LOG.warning("a server that provides tools could not be closed: %s", type(failure).__name__)
        finally:
            self._leave(use)

    def _leave(self, use: _Use) -> None:
        use.users -= 1
        if use.users == 0:
            del self._uses[id(use.source)]


TOOL_SOURCES = ToolSources()
