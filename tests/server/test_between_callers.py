"""What one caller does doesn't delay another one, on real sockets and in real threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

from duologue.ports.brain import Part, Request
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.testing import ScriptedVoice
from duologue.workers.function_tools import tool

from .running_server import RunningServer, serve, talk


def test_seven_blocking_tools_of_one_caller_dont_delay_the_tool_of_another_one() -> None:
    release, started = threading.Event(), threading.Semaphore(0)

    @tool
    def wait() -> str:
        """Blocks until the test is over."""
        started.release()
        release.wait()
        return "waited"

    @tool
    def look() -> str:
        """Returns at once."""
        return "found"

    class Brain:
        async def reply(self, request: Request) -> AsyncIterator[Part]:
            if request.outputs:
                yield f"I {request.outputs[-1].output}."
            elif request.text == "wait":
                for _ in range(7):
                    yield ToolCall("wait", {})
            else:
                yield ToolCall("look", {})

    async def script(made: RunningServer) -> None:
        greedy, honest = await made.connect(), await made.connect()
        await greedy.begin("greedy")
        await honest.begin("honest")
        await greedy.send("type", text="wait")
        for _ in range(4):
            assert await asyncio.to_thread(started.acquire, timeout=20)
        try:
            assert await talk(honest, "look") == "I found."
            assert not started.acquire(blocking=False)  # a fifth one waits for its own caller
            metrics = (await made.get("/metrics")).body.decode()
            assert 'duologue_pool_running{pool="tools"} 4\n' in metrics
            assert 'duologue_pool_waiting{pool="tools"} 3\n' in metrics
        finally:
            release.set()

    serve(script, lambda: Agent(Brain(), voice=ScriptedVoice(), tools=[wait, look]))


def test_a_caller_who_gets_no_answer_cant_make_the_requests_to_the_brain_grow() -> None:
    asked: list[int] = []

    class Brain:
        async def reply(self, request: Request) -> AsyncIterator[Part]:
            asked.append(len(request.text))
            await asyncio.Event().wait()
            yield ""

    async def script(made: RunningServer) -> None:
        client = await made.connect()
        await client.begin("greedy")
        for number in range(250):
            await client.send("type", text="x" * 1_000, id=str(number))
        told = await client.expect("error", code="refused", id="249")
        assert "characters wait for an answer" in told["message"] or "at once" in told["message"]
        refused = {told["id"] for told in client.told("error", code="refused")}
        accepted = {told["id"] for told in client.told("typed")}
        assert len(refused | accepted) == 250  # each is taken or refused with words
        assert not refused & accepted
        assert len(accepted) <= 12
        assert sum(asked) <= 12 * 12 * 1_001

    serve(script, lambda: Agent(Brain(), voice=ScriptedVoice()))
