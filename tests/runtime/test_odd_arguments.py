"""Arguments that no JSON knows, as a brain in Python may give them: the tool gets them, and the call is kept all the
same."""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

import pytest

from duologue.lines.scripted import ScriptedLine
from duologue.ports import Request, ToolCall
from duologue.ports.history import AgentSaid, CallOutput
from duologue.ports.store import StoreFailed
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint import read_checkpoint
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedVoice
from duologue.workers.function_tools import tool

LOOP: dict[str, Any] = {}
LOOP["itself"] = LOOP


async def call_with(arguments: Any) -> tuple[list[Any], list[CallOutput], int, Agent, MemoryStore]:
    """One turn that calls a tool, and one that doesn't; how long the second took to be heard."""
    got: list[Any] = []

    @tool
    def book(on: datetime.date) -> str:
        got.append(on)
        return "booked"

    def brain(request: Request) -> Any:
        return ToolCall("book", arguments, "c1") if request.text == "book it" else "Very well."

    agent, store = Agent(brain, voice=ScriptedVoice(), tools=[book]), MemoryStore()
    lease, kept = await store.claim("call", "node", 600_000)
    failures: list[StoreFailed | None] = []
    talk = Conversation(agent, ScriptedLine(), conversation_id="call")
    talk.engine.save_with(CheckpointWriter(store, lease, kept.revision, lambda: None, failures.append))
    await talk.start()
    for text in ("book it", "thank you"):
        began = asyncio.get_running_loop().time()
        talk.type(text)
        while talk.state != "speaking":
            await asyncio.sleep(0.01)
        took_ms = round((asyncio.get_running_loop().time() - began) * 1000)
        while talk.state != "listening":
            await asyncio.sleep(0.01)
    assert failures == []
    outputs = [item for item in talk.history if isinstance(item, CallOutput)]
    await talk.end()
    return got, outputs, took_ms, agent, store


@pytest.mark.req("D-13", "L-07")
@pytest.mark.parametrize(
    ("arguments", "runs"),
    [
        ({"on": datetime.date(2026, 3, 4)}, True),
        ({"on": float("nan")}, False),
        ({"on": b"2026"}, False),
        (LOOP, False),
        (None, False),
        ([1, 2], False),
    ],
)
def test_arguments_that_are_no_json_keep_no_conversation_from_being_kept(arguments: Any, runs: bool) -> None:
    async def scene() -> None:
        got, outputs, took_ms, agent, store = await call_with(arguments)
        assert got == ([datetime.date(2026, 3, 4)] if runs else [])
        assert [("INVALID_ARGS" in output.output) for output in outputs] == [not runs]
        assert took_ms < 1_000  # a conversation that can't be saved waits for that before it speaks
        kept = await store.read("call")
        assert kept is not None
        saved = read_checkpoint(kept.parts, agent.settings)
        again = Conversation(agent, ScriptedLine(), conversation_id="call", checkpoint=saved)
        assert any(isinstance(item, AgentSaid) and item.calls for item in again.history)

    run_simulated(scene())
