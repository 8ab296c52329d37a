"""Checkpoints: what was saved can be read, and damaged data is refused."""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

import pytest

from duologue.ports import Request, ToolCall
from duologue.ports.history import AgentSaid, CallOutput
from duologue.ports.store import StoreFailed, StoreWrite
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint import NotRestorable, read_checkpoint, stored_transcript
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.runtime.transcript_pages import PAGE
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedLine, ScriptedVoice
from duologue.workers.function_tools import tool
from tests.runtime.stored_calls import Noted, agent, call, said


@pytest.mark.req("D-13")
def test_a_conversation_saved_without_pages_is_restored_and_saved_in_pages() -> None:
    async def scene() -> None:
        store = Noted()
        kept = await call(store, PAGE + 1)
        words = {**kept.parts["words"], "schema": 1, "transcript": stored_transcript(kept.parts)}
        del words["transcript"]["pages"]
        lease, _ = await store.claim("call", "node", 10_000, force=True)
        pages = {name: None for name in kept.parts if name.startswith("words.")}
        await store.write(lease, kept.revision, StoreWrite({"words": words, **pages}))
        old = await store.read("call")
        assert old is not None
        again = await call(store, 1, read_checkpoint(old.parts, agent().settings))
        assert len(said(again)) == PAGE + 2

    run_simulated(scene())


@pytest.mark.req("L-22.metrics", "C-API.snapshot")
def test_a_restored_conversation_counts_on() -> None:
    async def scene() -> None:
        store = Noted()
        kept = await call(store, 3)
        again = Conversation(
            agent(),
            ScriptedLine(),
            conversation_id="call",
            checkpoint=read_checkpoint(kept.parts, agent().settings),
        )
        assert (again.metrics.turns, again.metrics.sounds) == (3, 3)
        assert again.metrics.first_audio_ms is not None
        await again.restore()
        again.type("one more")
        await asyncio.sleep(5)
        assert again.metrics.turns == 4
        await again.end()

    run_simulated(scene())


@pytest.mark.parametrize("damaged", [7, {}, {"counts": 3, "token_ms": [0, 0], "audio_ms": [0, 0], "said": []}])
def test_damaged_counts_are_refused(damaged: object) -> None:
    async def scene() -> None:
        kept = await call(Noted(), 1)
        parts = {**kept.parts, "machine": {**kept.parts["machine"], "metrics": damaged}}
        with pytest.raises(NotRestorable, match="can't be read"):
            read_checkpoint(parts, agent().settings)
        del parts["machine"]["metrics"]
        assert read_checkpoint(parts, agent().settings).metrics is None

    run_simulated(scene())


def test_a_missing_page_is_not_restorable() -> None:
    async def scene() -> None:
        kept = await call(Noted(), PAGE)
        parts = {name: part for name, part in kept.parts.items() if name != "words.0"}
        with pytest.raises(NotRestorable, match="can't be read"):
            read_checkpoint(parts, agent().settings)

    run_simulated(scene())


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
        while talk.phase != "speaking":
            await asyncio.sleep(0.01)
        took_ms = round((asyncio.get_running_loop().time() - began) * 1000)
        while talk.phase != "listening":
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
def test_arguments_that_are_not_json_do_not_keep_a_conversation_from_being_saved(arguments: Any, runs: bool) -> None:
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
