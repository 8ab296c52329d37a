"""A whole telephone call over a real socket: Deepgram hears, Anthropic answers and calls a tool, ElevenLabs speaks.

The plugins are the real ones; the services are scripted servers on this machine.
"""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from duologue import tool
from duologue.audio.frames import to_pcm
from duologue.audio.g711 import pcm_to_ulaw
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lines.phone.carriers import CARRIERS
from duologue.plugins import PluginBrain, PluginEars, PluginVoice
from duologue.ports import AgentSaid, UserSaid
from duologue.runtime.agent import Agent, Phrases
from tests.brains.anthropic_messages import AnthropicServer, calls, says
from tests.limits import TEST_S
from tests.needs import needs_plugin
from tests.plugins.deepgram_service import DeepgramService
from tests.plugins.elevenlabs_service import ElevenLabsService
from tests.server.phone.phone_calls import phones, until

LONG = "Your table for two is booked for seven, and all of us here look forward to seeing you in the evening."
ASKED, CHANGED = "Please book a table for two people.", "Wait, please make it three people."


def tone(ms: int) -> bytes:
    """So much of a loud voice, as the caller's telephone sends it."""
    return pcm_to_ulaw(to_pcm((np.sin(np.arange(ms * 8) / 4) * 0.5).astype(np.float32)))


def test_a_phone_call_with_a_tool_and_a_barge_in() -> None:
    deepgram, elevenlabs, anthropic = needs_plugin("deepgram"), needs_plugin("elevenlabs"), needs_plugin("anthropic")
    booked: list[int] = []

    @tool
    async def book(people: int) -> str:
        """Book a table for so many people."""
        booked.append(people)
        return "booked"

    async def work() -> tuple[Any, ...]:
        scripts = (calls("book", '{"people": 2}'), says(LONG), says("A table for three, then."))
        async with (
            DeepgramService(hears=(ASKED, CHANGED)) as ears,
            ElevenLabsService() as voice,
            AnthropicServer(*scripts) as brain,
        ):
            agent = Agent(
                PluginBrain(
                    lambda: anthropic.LLM(model="claude-x", api_key="k", base_url=brain.url.removesuffix("/v1"))
                ),
                ears=PluginEars(
                    lambda: deepgram.STT(api_key="secret-key", base_url=f"http://127.0.0.1:{ears.port}/v1/listen")
                ),
                voice=PluginVoice(
                    lambda: elevenlabs.TTS(
                        api_key="secret-key", base_url=f"http://127.0.0.1:{voice.port}/v1", encoding="pcm_24000"
                    )
                ),
                tools=[book],
                profile="words",
                phrases=Phrases(greeting="Hello."),
            )
            async with phones(lambda: agent) as server, server.call(CARRIERS["twilio"]) as (caller, _):
                await until(lambda: caller.is_sounding)
                await until(lambda: not caller.is_sounding)
                caller.speak(tone(800))
                await until(lambda: len(brain.bodies) == 2 and caller.is_sounding)
                played_ms = caller.played_ms
                await until(lambda: caller.played_ms > played_ms + 1_500)
                caller.speak(tone(800))
                await until(lambda: len(brain.bodies) == 3)
                await until(lambda: "A table for three, then." in str(server.conversations[0].history))
                await until(lambda: not caller.is_sounding)
                history = server.conversations[0].history
                caller.hang_up()
                await asyncio.wait_for(server.conversations[0].wait(), TEST_S)
                for service in (agent.brain, agent.ears, agent.voice):
                    await service.close()
                return history, caller.clears, brain.bodies

    history, clears, bodies = run_jumping(asyncio.wait_for(work(), TEST_S))
    said = [item for item in history if isinstance(item, AgentSaid) and item.text]
    assert booked == [2]
    assert [item.text for item in history if isinstance(item, UserSaid)] == [ASKED, CHANGED]
    assert said[0].text == "Hello."
    cut = next(item for item in said if item.interrupted)
    assert clears >= 1
    assert LONG.startswith(cut.text)
    assert 3 <= len(cut.text.split()) < len(LONG.split())
    assert LONG[len(cut.text)] in " ,", "a word is heard whole or not at all"
    assert said[-1].text == "A table for three, then."
    # The next request tells the model what was heard, and no more.
    told = str(bodies[2]["messages"])
    assert cut.text in told
    assert LONG not in told
