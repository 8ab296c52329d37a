"""A TCP proxy that can cut connections, and hold back, delay or discard the data that it passes on.

Rule: data that is passed on is unchanged and in order. `heal` ends every fault, but connections whose data was
discarded stay broken.
"""

from __future__ import annotations

import asyncio
import contextlib


class Proxy:
    """A proxy in front of a local port. If `is_shut`, new connections are refused. If `is_hole`, all data on new
    connections is discarded, and these connections stay broken for good. All data is delayed by `delay_s` seconds."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self._server: asyncio.Server | None = None
        self._links: set[_Link] = set()
        self._open = asyncio.Event()
        self._open.set()
        self.is_shut = False
        self.is_hole = False
        self.delay_s = 0.0
        self.port = 0

    async def start(self) -> None:
        """Listen on a free port, and set `port` to it."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and abort every connection."""
        if self._server is not None:
            self._server.close()
        self.heal()
        self.cut()
        for _ in range(100):
            if not self._links:
                break
            await asyncio.sleep(0.01)

    # -- Faults

    def stall(self) -> None:
        """Hold all data back until `heal`."""
        self._open.clear()

    def swallow(self) -> None:
        """Discard all data of the current connections, and of those that are opened before `heal`. These connections
        stay broken even after `heal`."""
        self.is_hole = True
        for link in self._links:
            link.is_hole = True

    def cut(self) -> None:
        """Abort every connection."""
        for link in tuple(self._links):
            link.abort()

    def heal(self) -> None:
        """End every fault. Connections whose data was swallowed stay broken."""
        self.is_shut = self.is_hole = False
        self.delay_s = 0.0
        self._open.set()

    # -- Passing on

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_shut:
            writer.transport.abort()
            return
        try:
            behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", self._behind)
        except OSError:
            writer.transport.abort()
            return
        link = _Link(writer, behind_writer, self.is_hole)
        self._links.add(link)
        try:
            passing = [
                asyncio.ensure_future(self._pass(link, reader, behind_writer)),
                asyncio.ensure_future(self._pass(link, behind_reader, writer)),
            ]
            await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
            for task in passing:
                task.cancel()
            await asyncio.gather(*passing, return_exceptions=True)
        finally:
            link.abort()
            self._links.discard(link)

    async def _pass(self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            while data := await reader.read(65_536):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                await self._open.wait()
                if not link.is_hole:
                    writer.write(data)
                    await writer.drain()
            if link.is_hole:
                await link.aborted.wait()  # the close is swallowed, too


class _Link:
    """One connection through the proxy."""

    def __init__(self, front: asyncio.StreamWriter, behind: asyncio.StreamWriter, is_hole: bool) -> None:
        self._front = front
        self._behind = behind
        self.is_hole = is_hole
        self.aborted = asyncio.Event()

    def abort(self) -> None:
        self.aborted.set()
        for writer in (self._front, self._behind):
            if writer.transport is not None:
                writer.transport.abort()
