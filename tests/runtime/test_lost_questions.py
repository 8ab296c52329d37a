"""A question that a crash or a lost line cut off is said again by itself, and a yes before that confirms nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.settings import profile
from duologue.flows import parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.dialogue_session import RecentCheckpoints
from duologue.flows.registry import Registry
from duologue.nlu.local import LocalNlu
from duologue.ports.brain import OpenQuestion
from duologue.ports.history import AgentSaid
from duologue.ports.line import Played
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore
from duologue.voice.scripted import ScriptedVoice
from tests.runtime.test_crashes import Process, begin
from tests.runtime.test_yes_too_early import QUESTION, TRANSFER

SOON_S = 6.0  # reconnecting and a moment of silence


class Bank:
    """Agents that send money, of which one takes over from the other."""

    def __init__(self, flows: str = TRANSFER) -> None:
        self.flows = flows
        self.sent: list[str] = []
        self.saved = RecentCheckpoints()

    def agent(self) -> Agent:
        async def send_money(name: str) -> dict[str, str]:
            self.sent.append(name)
            return {"reference": "A1"}

        functions = Registry([send_money])
        brain = FlowBrain(parse_flows(self.flows), functions, LocalNlu(words_only=True), store=self.saved)
        return Agent(brain, voice=ScriptedVoice(), profile=profile("confirm", greets=False, dead_air_ms=0))


async def until(holds: Any, limit_s: float = 60.0) -> None:
    async with asyncio.timeout(limit_s):
        while not holds():
            await asyncio.sleep(0.01)


def heard(process: Process) -> list[str]:
    return [item.text for item in process.conversation.history if isinstance(item, AgentSaid) and item.text]


async def quiet(process: Process) -> None:
    await asyncio.sleep(0.3)
    s = process.conversation.engine.driver
    await until(lambda: s.state.voice.value == "silent" and s.state.reply.value == "none")


async def cut_in_the_question(bank: Bank, store: MemoryStore, heard_ms: int) -> Played:
    """Give the order. The process ends when so much of the confirmation was heard."""
    process = await begin(store, bank.agent())
    for text in ("send money", "Anna"):
        process.conversation.type(text)
        if text != "Anna":
            await quiet(process)
    await until(lambda: process.line.is_sounding and process.line.heard_ms >= heard_ms)
    await process.writer.wait_until_saved()
    played = process.heard()
    process.die()
    assert played is not None
    return played


@pytest.mark.req("H-02.cut", "H-14")
def test_after_a_crash_the_question_is_said_again_by_itself() -> None:
    async def scene() -> None:
        bank, store = Bank(), MemoryStore()
        played = await cut_in_the_question(bank, store, heard_ms=400)
        process = await begin(store, bank.agent(), played)
        await asyncio.sleep(SOON_S)
        assert heard(process)[-1] == QUESTION
        assert bank.sent == []
        process.conversation.type("yes")
        await quiet(process)
        assert bank.sent == ["Anna"]
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-02.cut", "H-14")
def test_a_yes_right_after_a_crash_sends_nothing() -> None:
    async def scene() -> None:
        bank, store = Bank(), MemoryStore()
        played = await cut_in_the_question(bank, store, heard_ms=400)
        process = await begin(store, bank.agent(), played)
        process.conversation.type("yes")
        await asyncio.sleep(SOON_S)
        assert bank.sent == []
        assert heard(process)[-1] == QUESTION
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-02.cut")
def test_a_question_that_was_heard_before_the_crash_is_not_said_again() -> None:
    async def scene() -> None:
        bank, store = Bank(TRANSFER.replace("{name}?", "{name} today, and all of it at once?")), MemoryStore()
        played = await cut_in_the_question(bank, store, heard_ms=2_400)
        process = await begin(store, bank.agent(), played)
        await asyncio.sleep(SOON_S)
        assert max(process.line.played, default=0) <= played.voice
        process.conversation.type("yes")
        await quiet(process)
        assert bank.sent == ["Anna"]
        process.die()

    run_simulated(scene())


@pytest.mark.req("H-02.cut")
def test_a_brain_that_remembers_nothing_has_the_rest_said_again_from_the_sentence_that_was_cut() -> None:
    async def scene() -> None:
        brain = ScriptedBrain([["I found one. ", OpenQuestion("Shall I really book that flight for you today?")]])
        agent = Agent(brain, voice=ScriptedVoice(), profile=profile("confirm", greets=False, dead_air_ms=0))
        process = await begin(MemoryStore(), agent)
        process.conversation.type("find a flight")
        await until(lambda: process.line.is_sounding and process.line.heard_ms >= 900)
        process.line.drop()
        await asyncio.sleep(SOON_S)
        assert heard(process)[-1] == "Shall I really book that flight for you today?"
        assert len(brain.requests) == 1
        process.die()

    run_simulated(scene())
