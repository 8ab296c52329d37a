"""How much sound the listener still has, as tasks of a reply see it."""

from __future__ import annotations

import asyncio

from duologue.ports.playback_lead import playback_lead_ms, tell_playback_lead
from duologue.runtime.simulated_clock import run_simulated


def test_tasks_of_a_reply_see_its_lead_and_others_see_none() -> None:
    async def child() -> int:
        return playback_lead_ms()

    async def reply(lead_ms: int) -> int:
        tell_playback_lead(lambda: lead_ms)
        return await asyncio.create_task(child())

    async def work() -> None:
        assert await asyncio.gather(reply(1_200), reply(300)) == [1_200, 300]
        assert playback_lead_ms() == 0

    run_simulated(work())
