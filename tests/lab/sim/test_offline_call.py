"""A telephone call without a network: both sides get their messages late and in order."""

from __future__ import annotations

import asyncio
import json

from duologue.lab.sim.offline_call import WIRE_MS, OfflineCall, Pipe
from duologue.lines.phone.carriers import CARRIERS
from duologue.runtime.simulated_clock import run_simulated


def test_a_pipe_delivers_in_order_after_its_delay() -> None:
    async def send() -> list[tuple[str, int]]:
        loop = asyncio.get_running_loop()
        began, arrived = loop.time(), []
        pipe = Pipe(lambda text: arrived.append((text, round((loop.time() - began) * 1000))), 40)
        pipe.send("a")
        pipe.send("b")
        assert arrived == []
        await asyncio.sleep(0.1)
        assert pipe.sent == ["a", "b"]
        return arrived

    assert run_simulated(send()) == [("a", 40), ("b", 40)]


def test_a_call_is_connected_after_one_way_of_the_wire() -> None:
    async def connect() -> float:
        began = asyncio.get_running_loop().time()
        call = OfflineCall(CARRIERS["telnyx"])
        line = await call.connect()
        assert call.stream.line is line
        return asyncio.get_running_loop().time() - began

    assert round(run_simulated(connect()) * 1000) == WIRE_MS


def test_a_message_that_the_agent_refuses_ends_the_call() -> None:
    async def garble() -> OfflineCall:
        call = OfflineCall()
        await call.connect()
        call.to_agent.send(json.dumps({"event": "start"}))
        await asyncio.sleep(1)
        return call

    call = run_simulated(garble())
    assert call.refused is not None
    assert call.is_hung_up
    assert call.carrier.is_over


def test_the_agent_can_hang_up() -> None:
    async def close() -> OfflineCall:
        call = OfflineCall()
        line = await call.connect()
        await line.close()
        await asyncio.sleep(1)
        return call

    call = run_simulated(close())
    assert call.is_hung_up
    assert call.carrier.is_over
