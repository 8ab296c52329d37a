"""A start that fails leaves no seat, no model and no open tool behind, and can be tried again."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.ports.ears import Heard, Incoming
from duologue.ports.worker import Worker
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint import Checkpoint
from duologue.runtime.conversation import Conversation, StartRefused
from duologue.runtime.seats import Seats, SeatTaken
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import ScriptedBrain, ScriptedSession, ScriptedVoice, scripted_tool


class Model(ScriptedBrain):
    """A model that hears by itself."""

    def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        return ScriptedEars().listen(audio)


class Server:
    """A server with one tool, open or not."""

    def __init__(self, name: str, failure: Exception | None = None, takes_s: float = 0.0) -> None:
        self.name = name
        self.failure = failure
        self.takes_s = takes_s
        self.is_connected = False

    async def open(self) -> None:
        await asyncio.sleep(self.takes_s)
        if self.failure is not None:
            raise self.failure
        self.is_connected = True

    def workers(self) -> list[Worker]:
        return [scripted_tool(self.name)]

    async def close(self) -> None:
        self.is_connected = False


def talk(agent: Agent, seats: Seats, seat: str = "mine", **more: Any) -> Conversation:
    return Conversation(agent, ScriptedLine(), seat=seat, seats=seats, **more)


@pytest.mark.req("C-CON-002")
def test_a_start_that_is_refused_for_its_model_leaves_its_seat() -> None:
    async def scene() -> None:
        agent, seats = Agent(Model(), voice=ScriptedVoice()), Seats()
        first = talk(agent, seats, "first")
        await first.start()
        with pytest.raises(StartRefused):
            await talk(agent, seats, "second").start()
        assert len(seats) == 1
        await first.end()
        again = talk(agent, seats, "second")
        await again.start()
        await again.end()
        assert len(seats) == 0

    run_simulated(scene())


@pytest.mark.req("C-CON-002")
def test_a_model_that_continues_a_conversation_can_not_join_another() -> None:
    """After a restart it is as much in a conversation as after a start."""

    async def scene() -> None:
        agent, seats = Agent(Model(), voice=ScriptedVoice()), Seats()
        before = talk(agent, seats)
        await before.start()
        engine = before.engine
        saved = Checkpoint(before.machine_state, engine.transcript.dump(), engine.requests.dump())
        await before.abandon("the process is gone")
        after = talk(agent, seats, checkpoint=saved)
        await after.restore()
        with pytest.raises(StartRefused, match="another conversation"):
            await talk(agent, seats, "other").start()
        await after.end()
        assert len(seats) == 0

    run_simulated(scene())


@pytest.mark.parametrize("first", ["start", "initialize"])
def test_a_server_that_cannot_be_opened_closes_the_others_and_is_opened_by_the_next_attempt(first: str) -> None:
    async def scene() -> None:
        good, bad = Server("good"), Server("bad", OSError("down"))
        talking = talk(Agent(ScriptedBrain(), voice=ScriptedVoice(), tools=[good, bad]), Seats())
        with pytest.raises(OSError, match="down"):
            await getattr(talking, first)()
        assert not good.is_connected
        bad.failure = None
        await talking.start()
        assert [tool.name for tool in talking.engine.tool_calls.tools] == ["good", "bad"]
        assert good.is_connected
        assert bad.is_connected
        await talking.end()
        assert not good.is_connected
        assert not bad.is_connected

    run_simulated(scene())


def test_a_start_that_is_refused_closes_the_servers_that_it_opened() -> None:
    async def scene() -> None:
        server, seats = Server("find"), Seats()
        session = ScriptedSession()
        session.active = False
        agent = Agent(ScriptedBrain(), voice=ScriptedVoice(), tools=[server], session=lambda: session)
        with pytest.raises(StartRefused):
            await talk(agent, seats).start()
        assert not server.is_connected
        seats.take("mine", "somebody")
        with pytest.raises(SeatTaken):
            await talk(agent, seats).start()
        assert not server.is_connected

    run_simulated(scene())


def test_a_server_that_opens_after_the_conversation_has_ended_is_closed() -> None:
    async def scene() -> None:
        server, seats = Server("slow", takes_s=2.0), Seats()
        talking = talk(Agent(ScriptedBrain(), voice=ScriptedVoice(), tools=[server]), seats)
        starting = asyncio.ensure_future(talking.start())
        await asyncio.sleep(1.0)
        await talking.end("hung up")
        with pytest.raises(StartRefused):
            await starting
        assert not server.is_connected
        assert len(seats) == 0

    run_simulated(scene())


def test_a_start_that_is_cancelled_ends_the_conversation_and_logs_no_unretrieved_exception() -> None:
    async def scene() -> None:
        unretrieved: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unretrieved.append(context))
        agent, seats = Agent(ScriptedBrain(), voice=ScriptedVoice()), Seats()
        talking = Conversation(agent, ScriptedLine(open_ms=2_000), seat="mine", seats=seats)
        starting = asyncio.ensure_future(talking.start())
        await asyncio.sleep(1.0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert await talking.wait() == "cancelled from outside"
        assert len(seats) == 0
        del talking, starting
        gc.collect()
        assert unretrieved == []  # an exception that no caller retrieves would be logged

    run_simulated(scene())


def test_one_that_is_frozen_can_still_be_ended() -> None:
    """Its machine moves no more, so nothing but the command itself can end it."""

    async def scene() -> None:
        talking = talk(Agent(ScriptedBrain(), voice=ScriptedVoice()), Seats())
        await talking.start()
        talking.freeze()
        async with asyncio.timeout(5):
            await talking.end("enough")

    run_simulated(scene())
