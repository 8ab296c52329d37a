"""A proxy in front of PostgreSQL that drops connections on request.

Rule: it breaks one connection at one moment, and lets everything else through.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType


class LossyProxy:
    """`lose_before(text)`: the next request with this text never arrives. `lose_after(text)`: it arrives, and its
    answer doesn't. `is_shut`: new connections are rejected."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._lost: tuple[bytes, bool] | None = None
        self.is_shut = False
        self.shuts_after_loss = False
        self.on_loss: Callable[[], object] = lambda: None
        self.losses = 0
        self.port = 0

    def lose_before(self, text: str) -> None:
        self._lost = (text.encode(), False)

    def lose_after(self, text: str) -> None:
        self._lost = (text.encode(), True)

    async def __aenter__(self) -> LossyProxy:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_shut:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        back = asyncio.create_task(self._back(server_reader, writer))
        try:
            await self._forth(reader, server_reader, server_writer, back)
        except ConnectionError:
            pass
        finally:
            back.cancel()
            writer.transport.abort()
            server_writer.transport.abort()
            self._tasks.discard(task)

    async def _forth(
        self,
        reader: asyncio.StreamReader,
        answers: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        back: asyncio.Task[None],
    ) -> None:
        while data := await reader.read(65_536):
            if self._lost and self._lost[0] in data:
                arrives = self._lost[1]
                self._lost, self.losses, self.is_shut = None, self.losses + 1, self.shuts_after_loss
                if arrives:
                    back.cancel()
                    await asyncio.gather(back, return_exceptions=True)
                    writer.write(data)
                    await answers.read(1)  # it was done
                else:
                    writer.transport.abort()
                self.on_loss()
                return
            writer.write(data)

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.transport.abort()
