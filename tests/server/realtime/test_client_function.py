"""Functions that the client runs."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from duologue.ports.worker import Tool
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.realtime.client_function import ClientCalls, ClientFunction
from duologue.server.realtime.facts import CallEnded, CallMade


def test_a_call_is_told_and_ends_with_its_output() -> None:
    async def whole() -> None:
        told: list[Any] = []
        calls = ClientCalls(told.append)
        function = ClientFunction(Tool("f"), calls)
        running = asyncio.ensure_future(function.run({"a": 1}, cast(Any, SimpleNamespace(call=7))))
        await asyncio.sleep(0)
        assert told == [CallMade(7, "f", '{"a": 1}')]
        calls.give(8, "not mine")
        calls.give(7, "done")
        calls.give(7, "twice")
        assert await running == "done"
        assert told[1:] == [CallEnded(7)]
        calls.give(7, "late")

    run_simulated(whole())


def test_a_call_that_is_cancelled_is_over() -> None:
    async def whole() -> None:
        told: list[Any] = []
        calls = ClientCalls(told.append)
        running = asyncio.ensure_future(calls.run(Tool("f"), {}, 1))
        await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running])
        assert told[-1] == CallEnded(1)

    run_simulated(whole())
