"""Servers that provide tools are shared: they are open while any conversation uses them."""

from __future__ import annotations

import asyncio

import pytest

from duologue.lines.scripted import ScriptedLine
from duologue.ports.worker import Worker
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation, StartRefused
from duologue.runtime.simulated_clock import run_simulated
from duologue.runtime.tool_sources import ToolSources
from duologue.testing import ScriptedBrain, ScriptedVoice, scripted_tool


class ToolServer:
    """A server with one tool that notes each open and close."""

    def __init__(self, failures: int = 0) -> None:
        self.is_connected = False
        self.failures = failures
        self.noted: list[str] = []

    async def open(self) -> None:
        await asyncio.sleep(1)
        if self.failures:
            self.failures -= 1
            raise OSError("down")
        self.noted.append("opened")
        self.is_connected = True

    def workers(self) -> list[Worker]:
        return [scripted_tool("find")]

    async def close(self) -> None:
        self.is_connected = False
        self.noted.append("closed")
        await asyncio.sleep(1)


def talk(server: ToolServer) -> Conversation:
    return Conversation(Agent(ScriptedBrain(), voice=ScriptedVoice(), tools=[server]), ScriptedLine())


def test_a_caller_who_hangs_up_does_not_take_the_tools_from_the_others() -> None:
    async def scene() -> None:
        server = ToolServer()
        first, second = talk(server), talk(server)
        await first.start()
        await second.start()
        await first.end()
        assert server.is_connected, "the second caller still uses it"
        await second.end()
        assert server.noted == ["opened", "closed"]

    run_simulated(scene())


def test_two_callers_who_start_together_open_the_server_once() -> None:
    async def scene() -> None:
        server, sources = ToolServer(), ToolSources()
        await asyncio.gather(sources.take(server), sources.take(server))
        assert server.noted == ["opened"]

    run_simulated(scene())


def test_a_caller_whose_opening_fails_leaves_the_server_to_the_next() -> None:
    async def scene() -> None:
        server, sources = ToolServer(failures=1), ToolSources()
        first, second = asyncio.create_task(sources.take(server)), asyncio.create_task(sources.take(server))
        with pytest.raises(OSError, match="down"):
            await first
        await second
        assert server.is_connected

    run_simulated(scene())


def test_a_caller_who_leaves_while_the_server_opens_leaves_it_to_the_others() -> None:
    async def scene() -> None:
        server, sources = ToolServer(), ToolSources()
        first, second = asyncio.create_task(sources.take(server)), asyncio.create_task(sources.take(server))
        await asyncio.sleep(0.5)
        first.cancel()
        await second
        assert server.is_connected

    run_simulated(scene())


def test_a_caller_who_comes_while_the_server_closes_opens_it_again() -> None:
    async def scene() -> None:
        server, sources = ToolServer(), ToolSources()
        await sources.take(server)
        leaving = asyncio.create_task(sources.release(server))
        await asyncio.sleep(0.5)
        await sources.take(server)
        await leaving
        assert server.noted == ["opened", "closed", "opened"]
        assert server.is_connected

    run_simulated(scene())


def test_a_server_that_the_program_opened_stays_open() -> None:
    async def scene() -> None:
        server, sources = ToolServer(), ToolSources()
        await server.open()
        await sources.take(server)
        await sources.release(server)
        assert server.noted == ["opened"]

    run_simulated(scene())


class StuckServer(ToolServer):
    """A server whose opening or closing never ends by itself. `stubborn` delays the end of a cancelled task."""

    def __init__(self, hangs_in: str, stubborn_s: float = 0) -> None:
        super().__init__()
        self.hangs_in, self.stubborn_s = hangs_in, stubborn_s

    async def open(self) -> None:
        if self.hangs_in == "open":
            await self._hang()
        await super().open()

    async def close(self) -> None:
        if self.hangs_in == "close":
            await self._hang()
        await super().close()

    async def _hang(self) -> None:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            await asyncio.sleep(self.stubborn_s)
            raise


@pytest.mark.parametrize("stubborn_s", [0, 60], ids=["ends when cancelled", "ignores being cancelled"])
@pytest.mark.parametrize("first", ["none", "closes", "never closes"])
def test_an_end_while_a_server_opens_lets_the_start_return_within_two_seconds(first: str, stubborn_s: float) -> None:
    async def scene() -> None:
        servers: list[ToolServer] = [StuckServer("open", stubborn_s)]
        if first != "none":
            servers.insert(0, StuckServer("close" if first == "never closes" else "", stubborn_s))
        conversation = Conversation(Agent(ScriptedBrain(), voice=ScriptedVoice(), tools=servers), ScriptedLine())
        starting = asyncio.create_task(conversation.start())
        await asyncio.sleep(10)
        asked_s = asyncio.get_running_loop().time()
        ending = asyncio.create_task(conversation.end("enough"))
        with pytest.raises(StartRefused):
            await starting
        assert asyncio.get_running_loop().time() - asked_s <= 2
        await ending
        assert asyncio.get_running_loop().time() - asked_s <= 2

    run_simulated(scene())
