"""A WebSocket without a network, on any clock: delivers, with delays, what a simulated user and a server send each
other.

Rule: messages of one direction arrive in order. After `abort`, nothing arrives in either direction.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

LOST = 1006  # the close code of a connection that broke
DELAY_S_MAX = 0.03


class _Way:
    """One direction of a connection."""

    def __init__(self, dice: random.Random) -> None:
        self.arrived: asyncio.Queue[Any] = asyncio.Queue()
        self._on_its_way: deque[Any] = deque()
        self._dice = dice
        self._last_s = 0.0

    def put(self, item: Any) -> None:
        loop = asyncio.get_running_loop()
        self._last_s = max(self._last_s, loop.time() + self._dice.uniform(0.0, DELAY_S_MAX))
        self._on_its_way.append(item)
        loop.call_at(self._last_s, self._deliver)

    def _deliver(self) -> None:
        """Deliver the oldest message. This method is called once for each message. The event loop may change the order
        of calls that are due at the same time, so a call isn't bound to its own message."""
        self.arrived.put_nowait(self._on_its_way.popleft())


class SimulatedLine:
    """One connection. The client's side has those methods of a `websockets` connection that a simulated user needs. The
    server's side has the two functions of an ASGI WebSocket: receive and send."""

    def __init__(self, dice: random.Random) -> None:
        self._to_client = _Way(dice)
        self._to_server = _Way(dice)
        self.is_gone = False
        self.close_code: int | None = None
        self.close_reason = ""
        self.transport = self  # of which a client only uses `abort`
        self._to_server.arrived.put_nowait({"type": "websocket.connect"})

    # -- The client's side

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        while (item := await self._to_client.arrived.get()) is not None and not self.is_gone:
            if isinstance(item, tuple):
                self.close_code, self.close_reason = item
                return
            yield item

    async def send(self, text: str) -> None:
        if not self.is_gone:
            self._to_server.put({"type": "websocket.receive", "text": text})

    def abort(self) -> None:
        """Break the connection."""
        if not self.is_gone:
            self.is_gone = True
            self.close_code = self.close_code or LOST
            self._to_client.arrived.put_nowait(None)
            self._to_server.arrived.put_nowait({"type": "websocket.disconnect"})

    # -- The server's side

    async def receive(self) -> dict[str, Any]:
        item: dict[str, Any] = await self._to_server.arrived.get()
        return {"type": "websocket.disconnect"} if self.is_gone else item

    async def send_event(self, event: dict[str, Any]) -> None:
        if self.is_gone:
            raise OSError("the client is gone")
        if event["type"] == "websocket.send":
            self._to_client.put(event.get("text") or event["bytes"])
        elif event["type"] == "websocket.close":
            self._to_client.put((event.get("code", 1000), event.get("reason", "")))
