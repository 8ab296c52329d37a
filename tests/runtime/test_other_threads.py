"""Commands from other threads run in the conversation's own thread, and observers are called there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import Request, ToolCall
from duologue.ports.line import Played
from duologue.ports.worker import Job
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.testing import ScriptedVoice
from duologue.workers.function_tools import tool
from tests.limits import WAIT_S


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not holds():
            await asyncio.sleep(0.005)


@pytest.mark.req("C-API")
def test_commands_from_another_thread_run_in_the_conversations_own() -> None:
    async def main() -> None:
        answers: list[str] = []

        @tool(mode="dispatch")
        async def book(job: Job) -> str:
            answers.append(await job.ask("Window or aisle?"))
            return "booked"

        def brain(request: Request) -> object:
            return ToolCall("book", {}, "c1") if request.text == "book" else "Very well."

        talk = Conversation(Agent(brain, voice=ScriptedVoice(), tools=[book]), ScriptedLine(), seats=Seats())
        threads: dict[type[sg.Signal], set[int]] = {}
        talk.on(sg.Signal, lambda signal: threads.setdefault(type(signal), set()).add(threading.get_ident()))
        async with talk:
            await asyncio.to_thread(talk.type, "book")
            await until(lambda: talk.engine.tool_calls.asking)
            await asyncio.to_thread(talk.notify_worker, 1, "half of it")
            await until(lambda: sg.WorkProgressed in threads)
            await asyncio.to_thread(talk.notify_voice, Played(99, 10))
            await asyncio.to_thread(talk.answer, 1, "aisle")
            await until(lambda: answers == ["aisle"])
            await asyncio.to_thread(talk.interrupt, "a thread")
            await asyncio.to_thread(talk.suspend, "a pause")
            await until(lambda: talk.phase == "paused")
            await asyncio.to_thread(talk.resume)
            await until(lambda: talk.phase != "paused")
            await asyncio.to_thread(talk.answer, 7, "nobody asked")
            await until(lambda: any(trouble.where == "command" for trouble in talk.engine.failures))
        assert {kind.__name__: found for kind, found in threads.items() if found != {threading.get_ident()}} == {}

    asyncio.run(main())
