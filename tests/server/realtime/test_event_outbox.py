"""The queue of events for a socket."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.close_codes import CloseCode
from duologue.server.realtime.event_outbox import EventOutbox


class Pipe:
    """A socket that can be stopped."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.is_open = asyncio.Event()

    async def send(self, message: dict[str, Any]) -> None:
        await self.is_open.wait()
        self.sent.append(message)

    def numbers(self) -> list[int]:
        return [json.loads(one["text"])["n"] for one in self.sent if one["type"] == "websocket.send"]


def test_sound_of_a_cut_voice_isnt_sent() -> None:
    async def whole() -> None:
        pipe = Pipe()
        outbox = EventOutbox(pipe.send, 10_000)
        for number, voice in enumerate([0, 1, 2, 1, 0]):
            outbox.send({"n": number}, voice)
        outbox.drop_sound(1)
        outbox.disconnect(CloseCode(1000, "over", "Over."))
        outbox.send({"n": 9})
        pipe.is_open.set()
        await outbox.write()
        assert pipe.numbers() == [0, 2, 4]
        assert pipe.sent[-1] == {"type": "websocket.close", "code": 1000, "reason": "Over."}

    run_simulated(whole())


def test_a_client_that_doesnt_read_is_disconnected() -> None:
    async def whole() -> None:
        pipe = Pipe()
        outbox = EventOutbox(pipe.send, 100)
        writing = asyncio.ensure_future(outbox.write())
        for number in range(50):
            outbox.send({"n": number})
            await asyncio.sleep(0)
        assert outbox.is_closing
        pipe.is_open.set()
        await writing
        assert pipe.sent[-1]["code"] == 1008

    run_simulated(whole())
