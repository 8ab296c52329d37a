"""Honest callers get an answer to each kind of turn from a real server."""

from __future__ import annotations

import asyncio

from duologue.lab.torture.honest_callers import KINDS, HonestCaller
from duologue.lab.torture.hostile_agent import make_hostile_agent
from tests.limits import WAIT_S
from tests.server.running_server import running_server


def test_each_kind_of_turn_is_answered_and_timed() -> None:
    async def main() -> None:
        async with running_server(make_hostile_agent) as made:
            callers = [HonestCaller(number, made.port, seed=1) for number in range(len(KINDS))]
            calling = [asyncio.ensure_future(caller.run()) for caller in callers]
            async with asyncio.timeout(WAIT_S):
                while not all(caller.notes.answer_ms for caller in callers):
                    await asyncio.sleep(0.02)
            for task in calling:
                task.cancel()
            await asyncio.gather(*calling, return_exceptions=True)
            assert {kind for caller in callers for kind, _ in caller.notes.answer_ms} == set(KINDS)
            assert not [caller.notes.refused for caller in callers if caller.notes.refused]

    asyncio.run(main())
