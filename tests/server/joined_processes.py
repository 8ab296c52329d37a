"""Several servers in one event loop that share their limits, as the processes of one server do. What one tells reaches
the others at once, in the form of the packets between real processes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from duologue.server.limit_news import LimitNews, RoomWanted, news_of, row_of
from duologue.server.siblings import NoSiblings

from .running_server import RunningServer, running_server


class JoinedProcesses:
    """The processes, by number, and how many news they have told."""

    def __init__(self) -> None:
        self.made: dict[int, RunningServer] = {}
        self.told = 0

    def tell(self, process: int, news: LimitNews, to: int | None = None) -> None:
        self.told += 1
        row = json.loads(json.dumps(row_of(news)))
        for at, made in self.made.items():
            if at == to or (to is None and at != process):
                made.server.note_limits(process, [news_of(row)])

    def kill(self, process: int) -> None:
        """Let the other processes know that this one has ended."""
        del self.made[process]
        for made in self.made.values():
            made.server.drop_limits(process)


class JoinedSiblings(NoSiblings):
    """What one of the processes can tell the others."""

    def __init__(self, joined: JoinedProcesses, process: int) -> None:
        self._joined = joined
        self._process = process

    def tell_limit(self, news: LimitNews) -> None:
        self._joined.tell(self._process, news)

    def ask_for_room(self, process: int, news: RoomWanted) -> None:
        self._joined.tell(self._process, news, process)


@asynccontextmanager
async def joined_processes(count: int, **given: Any) -> AsyncIterator[JoinedProcesses]:
    """Run this many servers with the same settings."""
    joined = JoinedProcesses()
    async with AsyncExitStack() as stack:
        for process in range(count):
            siblings = JoinedSiblings(joined, process)
            joined.made[process] = await stack.enter_async_context(running_server(siblings=siblings, **given))
        yield joined
