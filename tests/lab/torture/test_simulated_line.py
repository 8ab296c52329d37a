"""A WebSocket without a network."""

from __future__ import annotations

import asyncio
import random

import pytest

from duologue.lab.torture.simulated_line import LOST, SimulatedLine
from duologue.runtime.simulated_clock import run_simulated


def test_messages_arrive_in_order_and_a_close_comes_last() -> None:
    async def scene() -> None:
        line = SimulatedLine(random.Random(1))
        for number in range(50):
            await line.send_event({"type": "websocket.send", "text": str(number)})
        await line.send_event({"type": "websocket.close", "code": 4503, "reason": "moved"})
        assert [item async for item in line] == [str(number) for number in range(50)]
        assert (line.close_code, line.close_reason) == (4503, "moved")
        assert await line.receive() == {"type": "websocket.connect"}
        await line.send("hello")
        assert await line.receive() == {"type": "websocket.receive", "text": "hello"}

    run_simulated(scene())


def test_after_an_abort_nothing_arrives() -> None:
    async def scene() -> None:
        line = SimulatedLine(random.Random(1))
        await line.send_event({"type": "websocket.send", "text": "on its way"})
        line.abort()
        assert [item async for item in line] == []
        assert line.close_code == LOST
        assert await line.receive() == {"type": "websocket.disconnect"}
        with pytest.raises(OSError, match="gone"):
            await line.send_event({"type": "websocket.send", "text": "late"})
        await asyncio.sleep(1)

    run_simulated(scene())
