"""Code that blocks the event loop is named."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from duologue.server.blocked_loop import BlockedLoopWatch, warn
from tests.limits import WAIT_S


def test_what_blocks_the_loop_is_named_while_it_blocks() -> None:
    told: list[str] = []
    is_told = threading.Event()

    def tell(place: str) -> None:
        told.append(place)
        is_told.set()

    def blocks() -> None:
        assert is_told.wait(WAIT_S)  # as `time.sleep` in a hook, until it is told

    async def run() -> None:
        with BlockedLoopWatch(tell, blocked_s=0.02):
            blocks()
            await asyncio.sleep(0)

    asyncio.run(run())
    place = told[0]
    assert place.endswith("in blocks")
    assert "test_blocked_loop.py:" in place


def test_the_warning_says_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "duologue.server"):
        warn("agent.py:7 in on_end")
    assert "blocked by agent.py:7 in on_end" in caplog.text
    assert "asyncio.to_thread" in caplog.text
