"""One connection: events out in order, events in as they come, and whether the other side is alive.

Knows JSON and sockets, and nothing of what events mean. Rule: sending never waits; a side that is gone
is told once.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from .server_events import Happened, UnknownEvent, UnreadableEvent, read
from .settings import RealtimeSettings

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

    from .client_events import ClientEvent

MESSAGE_BYTES_MAX = 32 * 1024 * 1024
BACKLOG_MAX = 500  # client events that wait for the network; beyond it, audio is dropped
IDS_MAX = 256  # server events that are remembered, to know one that comes twice
CLOSE_S_MAX = 0.3
_SILENT = logging.Logger("duologue.realtime.wire", logging.CRITICAL + 1)  # handshakes hold the key


class RealtimeWire(Protocol):
    """A socket, as far as we need one. Whatever it raises means that it is gone."""

    async def send(self, text: str) -> None: ...

    async def recv(self) -> str | bytes: ...

    async def ping(self) -> None:
        """Returns when the other side has answered."""
        ...

    async def close(self) -> None: ...


class SocketWire:
    """A WebSocket."""

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


async def dial(url: str, headers: dict[str, str]) -> RealtimeWire:
    """A WebSocket to this URL. By `websockets` and not by the official SDK: any URL and any header will do,
    unknown events stay what they are, and a delta costs a tenth."""
    try:
        from websockets.asyncio.client import connect
    except ModuleNotFoundError as missing:
        if missing.name != "websockets":
            raise
        raise ModuleNotFoundError(
            "a Realtime model needs websockets: pip install 'duologue[realtime]'", name="websockets"
        ) from None
    socket = await connect(
        url,
        additional_headers=headers,
        compression=None,
        open_timeout=None,  # whoever dials has a deadline
        ping_interval=None,
        close_timeout=CLOSE_S_MAX,
        max_size=MESSAGE_BYTES_MAX,
        logger=_SILENT,
    )
    return SocketWire(socket)


class Connection:
    """A wire with somebody at this end."""

    def __init__(
        self,
        wire: RealtimeWire,
        settings: RealtimeSettings,
        counts: Counter[str],
        take: Callable[[Happened], None],
        lost: Callable[[BaseException], None],
        healthy: Callable[[bool], None],
    ) -> None:
        self._wire = wire
        self._settings = settings
        self._counts = counts
        self._take = take
        self._lost = lost
        self._healthy = healthy
        self._number = 0
        self._outbox: deque[str] = deque()
        self._more = asyncio.Event()
        self._ids: dict[str, None] = {}
        self.is_over = False
        self.received = 0  # messages
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(work, name=f"realtime {name}")
            for name, work in (("reader", self._read()), ("writer", self._write()), ("pings", self._ping()))
        ]

    def send(self, event: ClientEvent) -> str:
        """Put this on the wire, after everything before it. Returns its id."""
        self._number += 1
        name = f"duologue_{self._number}"
        if self.is_over:
            return name
        if len(self._outbox) >= BACKLOG_MAX and event["type"] == "input_audio_buffer.append":
            self._counts["audio_dropped"] += 1
            return name
        self._outbox.append(json.dumps({"event_id": name, **event}, separators=(",", ":")))
        self._more.set()
        return name

    async def close(self) -> None:
        """Everything that was sent leaves first, if the network takes it at once."""
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
        """The other side is gone, or as good as gone."""
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
                self._note(text)
        except asyncio.CancelledError:
            raise
        except Exception as failure:  # noqa: BLE001 - whatever it is, nobody reads any more
            self.lose(failure)

    def _note(self, text: str | bytes) -> None:
        try:
            event: Any = json.loads(text)
        except (ValueError, RecursionError):
            event = None
        if self._is_repeated(event):
            self._counts["repeated"] += 1
            return
        happened = read(event)
        if isinstance(happened, UnknownEvent | UnreadableEvent):
            self._counts["unknown" if isinstance(happened, UnknownEvent) else "unreadable"] += 1
            return
        self._take(happened)

    def _is_repeated(self, event: object) -> bool:
        name = event.get("event_id") if isinstance(event, dict) else None
        if not isinstance(name, str) or not name:
            return False
        if name in self._ids:
            return True
        self._ids[name] = None
        if len(self._ids) > IDS_MAX:
            del self._ids[next(iter(self._ids))]
        return False

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
        except Exception as failure:  # noqa: BLE001 - whatever it is, nothing leaves any more
            self.lose(failure)

    async def _ping(self) -> None:
        """A late answer is a wobble; whether to wait for it is the machine's decision."""
        try:
            while not self.is_over:
                await asyncio.sleep(self._settings.ping_ms / 1000)
                pong = asyncio.ensure_future(self._wire.ping())
                try:
                    done, _ = await asyncio.wait([pong], timeout=self._settings.pong_ms_max / 1000)
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
        except Exception as failure:  # noqa: BLE001 - whatever it is, nobody answers
            self.lose(failure)
