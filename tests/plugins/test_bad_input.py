"""Bad input in a whole conversation: one line names the setting, without words or keys, and the conversation goes on in
writing or ends politely."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from duologue import Agent, Conversation, profile
from duologue.brains.scripted import ScriptedBrain
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.plugins import PluginBrain, PluginEars, PluginVoice
from duologue.runtime.seats import Seats
from duologue.voice.scripted import ScriptedVoice
from tests.limits import TEST_S
from tests.needs import needs_plugin
from tests.plugins.elevenlabs_service import ElevenLabsService

MP3 = b"ID3\x04\x00\x00\x00\x00\x00\x00" + b"\xff\xfb\x90\x00" + bytes(4_000)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return run_jumping(asyncio.wait_for(work, TEST_S))


def elevenlabs_voice(service: ElevenLabsService, **settings: Any) -> PluginVoice:
    elevenlabs = needs_plugin("elevenlabs")
    url = f"http://127.0.0.1:{service.port}/v1"
    return PluginVoice(
        lambda: elevenlabs.TTS(**{"api_key": "secret-key", "base_url": url, "encoding": "pcm_24000", **settings})
    )


async def held(agent: Agent) -> tuple[list[str], list[str], str]:
    """A conversation of two typed turns: the problems that were told, what was answered, and how it ended."""
    problems: list[str] = []
    conversation = Conversation(agent, ScriptedLine(), seats=Seats())
    conversation.on(sg.Problem, lambda told: problems.append(f"{told.where}: {told.what}"))
    await conversation.start()
    over = asyncio.ensure_future(conversation.wait())
    for text in ("Hello there.", "And again."):
        if not over.done():
            conversation.type(text)
            await asyncio.wait([over], timeout=60)
    state = conversation.view("conversation").state
    said = [str(getattr(item, "text", "")) for item in conversation.history]
    await conversation.end()
    return problems, said, state


def mp3(service: ElevenLabsService) -> PluginVoice:
    service.audio = MP3
    return elevenlabs_voice(service)


def unknown_voice(service: ElevenLabsService) -> PluginVoice:
    service.error = "A voice with voice_id nobody does not exist. secret words"
    return elevenlabs_voice(service, voice_id="nobody")


@pytest.mark.parametrize(
    ("make", "told", "state"),
    [
        (mp3, "sent MP3 instead of pcm: ask it for encoding pcm, in its settings", "listening"),
        (unknown_voice, "rejected the request: check the plugin's model, voice, language and base URL", "listening"),
        (
            lambda service: elevenlabs_voice(service, api_key=None),
            "pass api_key to the plugin, or set ELEVEN_API_KEY",
            "idle",
        ),
    ],
)
def test_a_voice(make: Callable[[ElevenLabsService], PluginVoice], told: str, state: str) -> None:
    async def work() -> tuple[list[str], list[str], str]:
        async with ElevenLabsService() as service:
            voice = make(service)
            agent = Agent(ScriptedBrain(["All right."] * 9), voice=voice, profile=profile("confirm", dead_air_ms=0))
            try:
                return await held(agent)
            finally:
                await voice.close()

    problems, said, ended = run(work())
    lines = [problem for problem in problems if problem.startswith("voice: ")]
    assert len(lines) == len(said)  # one line for each turn
    assert all(told in line for line in lines)
    assert not any("secret" in problem or "nobody" in problem for problem in problems)
    assert ended == state


@pytest.mark.parametrize("part", ["ears", "brain"])
def test_ears_and_a_brain_without_a_key(part: str) -> None:
    async def work() -> tuple[list[str], list[str], str]:
        if part == "ears":
            deepgram = needs_plugin("deepgram")
            agent = Agent(ScriptedBrain(["All right."] * 9), ears=PluginEars(deepgram.STT), voice=ScriptedVoice())
        else:
            anthropic = needs_plugin("anthropic")
            brain = PluginBrain(lambda: anthropic.LLM(model="claude-x"))
            agent = Agent(brain, voice=ScriptedVoice(), profile=profile("confirm", dead_air_ms=0))
        return await held(agent)

    problems, _, ended = run(work())
    variable = "DEEPGRAM_API_KEY" if part == "ears" else "ANTHROPIC_API_KEY"
    lines = [problem for problem in problems if problem.startswith(f"{part}: ")]
    assert lines
    assert all(f"set {variable}" in line for line in lines)
    assert ended == "idle"  # such a failure would repeat, so the conversation has ended


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_person_whose_voice_cannot_be_heard_is_told_in_words(language: str) -> None:
    async def work() -> list[str]:
        async with ElevenLabsService() as service:
            voice = mp3(service)
            agent = Agent(ScriptedBrain(["All right."] * 9), voice=voice, language=language)
            hints: list[str] = []
            conversation = Conversation(agent, ScriptedLine(), seats=Seats())
            conversation.on(sg.Failed, lambda told: hints.append(told.hint))
            async with conversation:
                conversation.type("Hello there.")
                await asyncio.sleep(30)
            await voice.close()
            return hints

    assert all(run(work()))
