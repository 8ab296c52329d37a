"""A call on the real clock: the agent's services are real, the user is simulated and fast."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from duologue import Agent, Phrases, ToolCall, tool
from duologue.core.leaves import Link
from duologue.testing import LiveCall, ScriptedBrain


def live(script: Callable[[LiveCall], Coroutine[Any, Any, None]], agent: Any, **options: Any) -> LiveCall:
    async def main() -> LiveCall:
        async with LiveCall(agent, **options) as call:
            await script(call)
        return call

    return asyncio.run(main())


def test_an_agent_behind_a_real_socket_is_called_on_the_real_clock() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"You said " + await reader.readline())
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def brain(request: Any) -> str:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{request.text}\n".encode())
            answer = await reader.read()
            writer.close()
            return answer.decode().strip()

        async with server, LiveCall(brain) as call:
            await call.user("hello there")
            await call.expect_heard("You said hello there")
            await call.expect_asked_once()
            await call.expect_nothing_lost()

    asyncio.run(main())


def test_words_over_the_agent_interrupt_it() -> None:
    async def script(call: LiveCall) -> None:
        await call.user("tell me all")
        await call.interrupts("no wait please stop")
        await call.expect_heard("What else?")
        await call.expect_never_heard("end of it")

    live(script, ScriptedBrain(["This is a long story. " * 40 + "end of it", "What else?"]))


def test_tools_are_called_and_typing_and_hanging_up_work() -> None:
    @tool
    def opening_hours(day: str) -> str:
        """When we are open."""
        return f"nine on {day}"

    async def script(call: LiveCall) -> None:
        await call.types("when")
        await call.expect_called("opening_hours", day="monday")
        await call.expect_heard(re.compile("At nine"))
        assert [word.text for word in call.sounded_words][:2] == ["At", "nine."]
        await call.hangs_up()
        await call.expect_ended()

    brain = ScriptedBrain([[ToolCall("opening_hours", {"day": "monday"})], "At nine."])
    call = live(script, Agent(brain, tools=[opening_hours]))
    assert call.conversation.machine_state.link is Link.IDLE


def test_a_failed_expectation_tells_the_whole_call() -> None:
    async def script(call: LiveCall) -> None:
        await call.user("hello")
        await call.expect_heard("Good night.")

    with pytest.raises(AssertionError, match=r"(?s)'Good night.' was not heard.*user:  hello.*agent: Good day."):
        live(script, ScriptedBrain(["Good day."]))


def test_no_wait_is_longer_than_the_limit() -> None:
    async def script(call: LiveCall) -> None:
        await call.until(lambda: False, "nothing happens")

    with pytest.raises(AssertionError, match=r"nothing happens \(waited 20 ms\)"):
        live(script, ScriptedBrain(["x"]), limit_ms=20)


def test_an_agent_that_greets_is_heard_first() -> None:
    async def script(call: LiveCall) -> None:
        await call.settles()
        assert call.heard == ["Good day."]

    live(script, Agent(ScriptedBrain(["x"]), phrases=Phrases(greeting="Good day.")))
