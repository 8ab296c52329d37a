"""How many messages a client may send."""

from __future__ import annotations

import asyncio

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.message_limits import BURST_S, MessageLimits
from duologue.server.settings import Limits


def test_a_client_may_send_a_burst_and_then_its_rate() -> None:
    async def whole() -> None:
        refused: list[str] = []
        limits = MessageLimits(Limits(messages_per_s_max=10), refused.append)
        assert not any(limits.is_too_fast() for _ in range(10 * BURST_S))
        assert limits.is_too_fast()
        assert refused == ["messages"]
        await asyncio.sleep(1)
        assert [limits.is_too_fast() for _ in range(11)] == [False] * 10 + [True]

    run_simulated(whole())


def test_only_so_many_messages_may_be_invalid() -> None:
    async def whole() -> None:
        limits = MessageLimits(Limits(bad_messages_max=3), [].append)
        assert [limits.is_too_bad() for _ in range(3)] == [False, False, True]

    run_simulated(whole())
