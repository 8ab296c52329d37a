"""Where conversations are kept, that a sound begins is written down before anybody hears it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.ports.ears import SpeechBegan, SpeechEnded
from duologue.ports.history import AgentSaid
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedBrain, ScriptedVoice

WRITE_S = 1.5


class Slow(MemoryStore):
    """Takes its time, and notes the voice whose beginning is safe."""

    safe_voice = 0

    async def write(self, *given: Any) -> int:
        await asyncio.sleep(WRITE_S)
        done = await super().write(*given)
        kept = await self.read("call")
        assert kept is not None
        self.safe_voice = kept.parts["machine"]["state"]["voice_id"]
        return done


@pytest.mark.req("D-13")
@pytest.mark.parametrize("cough_ms", [100, 300, 600])
def test_a_cough_before_the_first_sound_does_not_let_it_begin_before_it_is_safe(cough_ms: int) -> None:
    """Held and let go before it began: it begins when it is safe, and is heard to its end."""

    async def scene() -> None:
        store, line, ears = Slow(), ScriptedLine(), ScriptedEars()
        lease, kept = await store.claim("call", "node", 600_000)
        agent = Agent(ScriptedBrain(["Good day to you."]), voice=ScriptedVoice(), ears=ears)
        talk = Conversation(agent, line, conversation_id="call")
        talk.engine.save_with(CheckpointWriter(store, lease, kept.revision, lambda: None, lambda problem: None))
        early: list[int] = []
        play = line.play

        def noting(voice: int, *given: Any) -> None:
            if store.safe_voice < voice:
                early.append(voice)
            play(voice, *given)

        line.play = noting  # type: ignore[method-assign]
        await talk.start()
        talk.type("hello there")
        while talk.state != "speaking":
            await asyncio.sleep(0.01)
        ears.tell(SpeechBegan(1))
        await asyncio.sleep(cough_ms / 1000)
        ears.tell(SpeechEnded(1))
        async with asyncio.timeout(30):
            while talk.state != "listening":
                await asyncio.sleep(0.01)
        assert early == []
        heard = [item.text for item in talk.history if isinstance(item, AgentSaid) and item.text]
        assert heard == ["Good day to you."]
        await talk.end()

    run_simulated(scene())
