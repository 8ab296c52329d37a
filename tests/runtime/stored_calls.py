"""A call whose store remembers every write, for the tests of checkpoints and of transcript pages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from duologue.ports.store import Lease, StoredConversation, StoreFailed, StoreWrite
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint import stored_transcript
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedBrain, ScriptedLine, ScriptedVoice


class Noted(MemoryStore):
    """Remembers what it was given to write; the next writes may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[StoreWrite] = []
        self.fails = 0

    async def write(self, lease: Lease, revision: int, write: StoreWrite) -> int:
        if self.fails:
            self.fails -= 1
            raise StoreFailed("away")
        self.writes.append(write)
        return await super().write(lease, revision, write)


def agent() -> Agent:
    return Agent(ScriptedBrain(lambda request: "Yes."), voice=ScriptedVoice())


async def call(store: Noted, turns: int, saved: Any = None) -> StoredConversation:
    """The user types so often, then the process dies."""
    lease, before = await store.claim("call", "node", 10_000, force=True)
    writer = CheckpointWriter(store, lease, before.revision, lambda: None, lambda problem: None)
    conversation = Conversation(agent(), ScriptedLine(), conversation_id="call", checkpoint=saved)
    conversation.engine.save_with(writer)
    await (conversation.start() if saved is None else conversation.restore())
    for number in range(turns):
        conversation.type(f"number {number}")
        await asyncio.sleep(5)
    await writer.wait_until_saved()
    kept = await store.read("call")
    assert kept is not None
    assert stored_transcript(kept.parts) == json.loads(json.dumps(conversation.engine.transcript.dump()))
    conversation.freeze()
    return kept


def said(kept: StoredConversation) -> list[str]:
    items = stored_transcript(kept.parts)["items"]
    return [item[2] for item in items if item[0] == "user"]
