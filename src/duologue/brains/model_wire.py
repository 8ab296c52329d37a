"""The socket of a speech-to-speech model: sends messages in order, reads messages as they arrive, and checks that the
server is alive.

This module knows text messages and sockets, but not what a message means. Rule: sending never waits, and the loss of
the connection is reported once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

MESSAGE_BYTES_MAX = 32 * 1024 * 1024
BACKLOG_MAX = 500  # messages that wait for the network; if more wait, new audio is dropped
CLOSE_S_MAX = 0.3
_SILENT = logging.Logger("duologue.model.wire", logging.CRITICAL + 1)  # a logged handshake would contain the key


class ModelWire(Protocol):
    """The methods of a socket that a model needs. If one of them raises an exception, the connection is lost."""

    async def send(self, text: str) -> None: ...

    async def recv(self) -> str | bytes: ...

    async def ping(self) -> None:
        """Send a ping. Returns when the server has answered it."""
        ...

    async def close(self) -> None: ...


class SocketWire:
    """A WebSocket as a ModelWire."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        await self._socket.send(text)

    async def recv(self) -> str | bytes:
        return await self._socket.recv()

    async def ping(self) -> None:
        await (await self._socket.ping())

    async def close(self) -> None:
        await self._socket.close()


async def dial(url: str, headers: dict[str, str]) -> ModelWire:
    """Open a WebSocket to this URL. This uses the package `websockets` and not a vendor's SDK, because `websockets`
    accepts any URL and header, passes on unknown messages unchanged, and reads a message ten times as fast as an
    SDK."""
    try:
        from websockets.asyncio.client import connect
    except ModuleNotFoundError as missing:
        if missing.name != "websockets":
            raise
        raise ModuleNotFoundError(
            "a speech-to-speech model needs websockets: pip install 'duologue[realtime]'", name="websockets"
        ) from None
    socket = await connect(
        url,
        additional_headers=headers,
        compression=None,
        open_timeout=None,  # the caller sets the deadline
        ping_interval=None,
        close_timeout=CLOSE_S_MAX,
        max_size=MESSAGE_BYTES_MAX,
        logger=_SILENT,
    )
    return SocketWire(socket)


class WireTasks:
    """A wire with three tasks, which read, write and ping. `take` is called with every message. `lost` is called once
    if the connection is lost. `healthy` is called with False when the server is late to answer a ping, and with True
    when the answer arrives. The names of the tasks begin with `name`."""

    def __init__(
        self,
        wire: ModelWire,
        counts: Counter[str],
        take: Callable[[str | bytes], None],
        lost: Callable[[BaseException], None],
        healthy: Callable[[bool], None],
        *,
        name: str,
        ping_ms: int,
        pong_ms_max: int,
    ) -> None:
        self._wire = wire
        self._counts = counts
        self._take = take
        self._lost = lost
        self._healthy = healthy
        self._ping_s, self._pong_s_max = ping_ms / 1000, pong_ms_max / 1000
        self._outbox: deque[str] = deque()
        self._more = asyncio.Event()
        self.is_over = False
        self.received = 0  # how many messages
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(work, name=f"{name} {what}")
            for what, work in (("reader", self._read()), ("writer", self._write()), ("pings", self._ping()))
        ]

    def send(self, text: str, is_audio: bool = False) -> None:
        """Queue this message after all earlier ones. The message is dropped if the connection is over. An audio message
        is also dropped if too many messages are waiting."""
        if self.is_over:
            return
        if is_audio and len(self._outbox) >= BACKLOG_MAX:
            self._counts["audio_dropped"] += 1
            return
        self._outbox.append(text)
        self._more.set()

    async def close(self) -> None:
        """Close the connection, after a short wait for queued messages to be sent."""
        was_over, self.is_over = self.is_over, True
        self._more.set()
        mine = asyncio.current_task()
        reader, writer, pings = self._tasks
        pings.cancel()
        if not was_over and writer is not mine:
            await asyncio.wait([writer], timeout=CLOSE_S_MAX)
        for task in (reader, writer):
            if task is not mine:
                task.cancel()
        with suppress(Exception):
            async with asyncio.timeout(2 * CLOSE_S_MAX):
                await self._wire.close()

    def lose(self, failure: BaseException) -> None:
        """Treat the connection as lost. The loss is reported only one time."""
        if not self.is_over:
            self.is_over = True
            self._more.set()
            for task in self._tasks[1:]:
                task.cancel()
            self._lost(failure)

    # -- The three tasks

    async def _read(self) -> None:
        try:
            while True:
                text = await self._wire.recv()
                self.received += 1
                if self.is_over:
                    return
                self._take(text)
        except asyncio.CancelledError:
            raise
        except Exception as failure:  # noqa: BLE001 - any failure of the socket ends the connection
            self.lose(failure)

    async def _write(self) -> None:
        try:
            while self._outbox or not self.is_over:
                if not self._outbox:
                    self._more.clear()
                    await self._more.wait()
                    continue
                await self._wire.send(self._outbox.popleft())
        except asyncio.CancelledError:
            raise
        except Exception as failure:  # noqa: BLE001 - any failure of the socket ends the connection
            self.lose(failure)

    async def _ping(self) -> None:
        """Ping the server regularly. While the server's answer to a ping is late, the connection is reported as
        unhealthy. The core decides how long to wait for a late answer."""
        try:
            while not self.is_over:
                await asyncio.sleep(self._ping_s)
                pong = asyncio.ensure_future(self._wire.ping())
                try:
                    done, _ = await asyncio.wait([pong], timeout=self._pong_s_max)
                    if not done:
                        self._counts["wobbles"] += 1
                        self._healthy(False)
                        await pong
                        self._healthy(True)
                    else:
                        await pong
                finally:
                    pong.cancel()
        except asyncio.CancelledError:
            raise
        except Exception as failure:  # noqa: BLE001 - any failure of the socket ends the connection
            self.lose(failure)
