"""Code that blocks the event loop is named."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest

from duologue import Agent, Context, Hooks
from duologue.server.blocked_loop import BlockedLoopWatch, warn
from duologue.testing import ScriptedBrain, ScriptedVoice
from tests.limits import WAIT_S
from tests.server.running_server import RunningServer, serve, talk


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


class _LogOfBlockages(logging.Handler):
    """Notes when the server's log names a function."""

    def __init__(self, function: str) -> None:
        super().__init__(logging.WARNING)
        self.named = threading.Event()
        self.lines: list[str] = []
        self._function = function

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if f" in {self._function}:" in line:
            self.lines.append(line)
            self.named.set()


def test_a_hook_that_blocks_the_server_is_named_in_the_log_and_other_calls_are_answered_afterwards() -> None:
    log, server_log = _LogOfBlockages("block_once"), logging.getLogger("duologue.server")

    async def block_once(context: Context[Any], told: object) -> None:
        if not log.lines:
            assert log.named.wait(WAIT_S)  # blocks all calls, as `time.sleep` does, until the log names it

    def make() -> Agent:
        brain = ScriptedBrain(lambda request: f"You said {request.text}.")
        return Agent(brain, voice=ScriptedVoice(), hooks=Hooks(on_turn=block_once))

    async def script(running: RunningServer) -> None:
        other, blocking = await running.connect(), await running.connect()
        await other.begin("bob")
        await blocking.begin("alice")
        with BlockedLoopWatch(warn, blocked_s=0.02):
            assert await talk(blocking, "hello") == "You said hello."
            assert log.lines
            assert await talk(other, "good morning") == "You said good morning."
            assert await talk(blocking, "again", after=1) == "You said again."

    server_log.addHandler(log)
    try:
        serve(script, make)
    finally:
        server_log.removeHandler(log)
    assert len(log.lines) == 1
    assert "test_blocked_loop.py:" in log.lines[0]
