"""A telephone call without a network: a scripted carrier and an agent's line in one event loop.

It is for simulated time, where there are no sockets. Rule: messages arrive after a delay and in order, as on a socket.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from duologue.lines.phone.carriers import CARRIERS, Carrier, Started
from duologue.lines.phone.line import BufferPace, PhoneLine
from duologue.lines.phone.media_stream import Stream, StreamRefused

from .scripted_carrier import ScriptedCarrier

WIRE_MS = 30  # the delay in each direction


class Pipe:
    """One direction of the connection: delivers each message after a delay, in order. `sent` records all messages."""

    def __init__(self, deliver: Callable[[str], None], wire_ms: int) -> None:
        self._deliver = deliver
        self._wire_s = wire_ms / 1000
        self._texts: deque[str] = deque()
        self.sent: list[str] = []

    def send(self, text: str) -> None:
        self.sent.append(text)
        self._texts.append(text)
        asyncio.get_running_loop().call_later(self._wire_s, self._arrive)

    def _arrive(self) -> None:
        self._deliver(self._texts.popleft())


class _Wire:
    """The agent's end of the connection."""

    def __init__(self, pipe: Pipe, hang_up: Callable[[], None]) -> None:
        self._pipe = pipe
        self._hang_up = hang_up

    def send(self, text: str) -> None:
        self._pipe.send(text)

    def close(self) -> None:
        self._hang_up()


class OfflineCall:
    """One call. `connect` starts it. `options` are passed on to ScriptedCarrier."""

    def __init__(
        self,
        carrier: Carrier = CARRIERS["twilio"],
        wire_ms: int = WIRE_MS,
        pace: BufferPace | None = None,
        sends: tuple[str, int] | None = None,
        **options: Any,
    ) -> None:
        self.to_agent = Pipe(self._receive, wire_ms)
        self.carrier = ScriptedCarrier(self.to_agent.send, carrier, **options)
        self.to_carrier = Pipe(self.carrier.receive, wire_ms)
        self.refused: StreamRefused | None = None
        self.is_hung_up = False  # whether the agent hung up
        self.stream = Stream(carrier, _Wire(self.to_carrier, self._hang_up), self._admit, pace, sends)
        self._started = asyncio.Event()

    async def connect(self) -> PhoneLine:
        """Start the call. Waits until the agent's side has admitted the call, then returns the agent's line."""
        self.carrier.connect()
        await self._started.wait()
        assert self.stream.line is not None
        return self.stream.line

    def _admit(self, started: Started) -> None:  # noqa: ARG002 - every simulated call is admitted
        self._started.set()

    def _receive(self, text: str) -> None:
        if self.refused is None:
            try:
                self.stream.receive(text)
            except StreamRefused as problem:
                self.refused = problem
                self._hang_up()

    def _hang_up(self) -> None:
        self.is_hung_up = True
        self.carrier.end()
