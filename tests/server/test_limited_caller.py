"""The budget of a client in the time of the event loop."""

from __future__ import annotations

import asyncio

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.caller_budget import Refused, Unanswered
from duologue.server.limited_caller import LimitedCaller, now_ms
from duologue.server.settings import Limits


def test_refusals_are_counted_by_limit_and_end_with_time() -> None:
    refused: list[str] = []
    told: list[Refused] = []

    async def main() -> None:
        caller = LimitedCaller(Limits(), refused.append)
        began_ms = now_ms()
        for _ in range(20):
            assert caller.type(1, Unanswered(0, 0)) is None
        assert caller.type(1, Unanswered(0, 0)) is not None
        assert caller.hear(10_000, told.append)
        assert not caller.hear(20, told.append)
        await asyncio.sleep(1.0)
        assert now_ms() - began_ms == 1_000
        assert caller.type(1, Unanswered(0, 0)) is None
        assert caller.hear(1_200, told.append)

    run_simulated(main())
    assert refused == ["typed_turns", "sound"]
    assert [one.message for one in told] == ["sound comes faster than it is spoken: 20 ms of it were left out"]
