"""Cancelling closes a plugin's stream before 50 ms have passed, in ears, voice and brain, alone and in a conversation.

The services stream slowly and never end by themselves. The clock jumps: computing takes no time, and a connection that
isn't closed is still open when the clock has moved.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from duologue import Agent, Conversation, profile
from duologue.brains.scripted import ScriptedBrain
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lines.scripted import ScriptedLine
from duologue.plugins import PluginBrain, PluginEars, PluginVoice
from duologue.plugins.plugin_loop import CLOSE_S_MAX
from duologue.ports import Request, UserSaid
from duologue.runtime.seats import Seats
from duologue.voice.scripted import ScriptedVoice
from tests.brains.anthropic_messages import AnthropicServer, streams_slowly
from tests.limits import TEST_S, WAIT_S
from tests.needs import needs_plugin
from tests.plugins.deepgram_service import DeepgramService
from tests.plugins.deepgram_speak_service import DeepgramSpeakService
from tests.plugins.elevenlabs_service import ElevenLabsService
from tests.plugins.test_ears import LOUD, Listening

TRIED = (("deepgram", "TTS"),)
TEXT = "Your table for two is booked for seven, and all of us look forward to seeing you in the evening."
ASKED = Request(1, "Hello there.", (UserSaid(1, "Hello there."),))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return run_jumping(asyncio.wait_for(work, TEST_S))


def now() -> float:
    return asyncio.get_running_loop().time()


@asynccontextmanager
async def within_50_ms() -> AsyncIterator[None]:
    """Fails if the clock moves by more than 50 ms in this block."""
    began = now()
    yield
    assert now() - began <= CLOSE_S_MAX == 0.05


def deepgram_voice(service: DeepgramSpeakService) -> PluginVoice:
    deepgram = needs_plugin("deepgram")
    url = f"http://127.0.0.1:{service.port}/v1/speak"
    return PluginVoice(lambda: deepgram.TTS(api_key="secret-key", base_url=url))


def anthropic_brain(server: AnthropicServer) -> PluginBrain:
    anthropic = needs_plugin("anthropic")
    url = server.url.removesuffix("/v1")
    return PluginBrain(lambda: anthropic.LLM(model="claude-x", api_key="secret-key", base_url=url))


async def stop(reader: asyncio.Task[Any]) -> None:
    """Cancel a reader, as a conversation does."""
    reader.cancel()
    await asyncio.wait([reader])


async def read(stream: AsyncIterator[Any], count: list[Any]) -> None:
    async for part in stream:
        count.append(part)


def noting_its_close(open_stream: Callable[..., Any], events: list[str]) -> Callable[..., Any]:
    """Open streams of a plugin in the same way, and note when each is open and when it has closed."""

    def opening(**options: Any) -> Any:
        stream = open_stream(**options)
        close = stream.aclose

        async def closing() -> None:
            await close()
            events.append("closed")

        stream.aclose = closing
        events.append("opened")
        return stream

    return opening


# -- One adapter


def test_ears() -> None:
    async def work() -> None:
        deepgram = needs_plugin("deepgram")
        async with DeepgramService() as service:
            url = f"http://127.0.0.1:{service.port}/v1/listen"
            ears = PluginEars(lambda: deepgram.STT(api_key="secret-key", base_url=url))
            listening = Listening(ears)
            listening.audio.feed(*[LOUD] * 10)
            reader = asyncio.ensure_future(read(listening.stream, []))
            await service.until(lambda: service.audio_ms > 0)
            async with within_50_ms():
                await stop(reader)
                await listening.stream.aclose()
                await service.until(lambda: service.open == 0)
            await ears.close()

    run(work())


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_voice(is_cancelled: bool) -> None:
    async def work() -> None:
        async with DeepgramSpeakService() as service:
            voice, made = deepgram_voice(service), list[Any]()
            stream = voice.speak(TEXT)
            reader = asyncio.ensure_future(read(stream, made))
            await service.until(lambda: service.pieces >= 5)
            if not is_cancelled:  # the reader is gone, and the stream is closed while it waits
                await stop(reader)
            async with within_50_ms():
                await stop(reader)
                await stream.aclose()
                await service.until(lambda: service.open == 0)
            assert 0 < len(made) < len(TEXT) * 50 // 100
            assert service.pieces <= 6
            await voice.close()

    run(work())


def test_after_a_cancelled_sentence_the_next_one_does_not_wait() -> None:
    async def work() -> None:
        async with DeepgramSpeakService() as service:
            voice = deepgram_voice(service)
            stream = voice.speak(TEXT)
            await anext(stream)
            async with within_50_ms():
                await stream.aclose()
                following = voice.speak("All right.")
                assert (await anext(following)).ms >= 20
            await following.aclose()
            assert service.texts == [TEXT, "All right."]
            await voice.close()

    run(work())


def test_a_voice_whose_sentences_share_a_connection() -> None:
    """ElevenLabs' plugin ends the sentence and keeps the connection: no sound of the old sentence comes in the new."""

    async def work() -> None:
        elevenlabs = needs_plugin("elevenlabs")
        events: list[str] = []

        def make() -> Any:
            url = f"http://127.0.0.1:{service.port}/v1"
            plugin = elevenlabs.TTS(api_key="secret-key", base_url=url, encoding="pcm_24000")
            plugin.stream = noting_its_close(plugin.stream, events)
            return plugin

        async with ElevenLabsService() as service:
            service.piece_s = 0.4
            voice, made = PluginVoice(make), list[Any]()
            stream = voice.speak(TEXT)
            reader = asyncio.ensure_future(read(stream, made))
            await service.until(lambda: service.pieces >= 2)
            async with within_50_ms():
                await stop(reader)
                await stream.aclose()
                assert events == ["opened", "closed"]
            sounds = [sound async for sound in voice.speak("Yes.")]
            assert 4 * 50 <= sum(sound.ms for sound in sounds) <= 4 * 50 + 20  # the plugin adds silence at the end
            assert [word.text for sound in sounds for word in sound.words] == ["Yes."]
            assert len(service.requests) == 1
            await voice.close()

    run(work())


def test_brain() -> None:
    async def work() -> None:
        async with AnthropicServer(streams_slowly("It is ")) as server:
            brain, parts = anthropic_brain(server), list[Any]()
            stream = brain.reply(ASKED)
            reader = asyncio.ensure_future(read(stream, parts))
            await asyncio.sleep(2)
            assert len(parts) > 3
            async with within_50_ms():
                await stop(reader)
                await stream.aclose()
                await asyncio.wait_for(server.gone.wait(), WAIT_S)
            await brain.close()

    run(work())


# -- In a conversation that is interrupted


@asynccontextmanager
async def talking(agent: Agent) -> AsyncIterator[Conversation]:
    conversation = Conversation(agent, ScriptedLine(), seats=Seats())
    async with conversation:
        conversation.type("Hello there.")
        yield conversation


def test_an_interruption_closes_the_stream_of_the_voice() -> None:
    async def work() -> None:
        async with DeepgramSpeakService() as service:
            voice = deepgram_voice(service)
            agent = Agent(ScriptedBrain([TEXT, "Yes."]), voice=voice, profile=profile("confirm", dead_air_ms=0))
            async with talking(agent) as conversation:
                await service.until(lambda: service.pieces >= 10)
                async with within_50_ms():
                    conversation.interrupt()
                    await service.until(lambda: service.open == 0)
            assert service.pieces <= 11
            await voice.close()

    run(work())


def test_an_interruption_closes_the_stream_of_the_brain() -> None:
    async def work() -> None:
        async with AnthropicServer(streams_slowly("and so on ")) as server:
            brain = anthropic_brain(server)
            agent = Agent(brain, voice=ScriptedVoice(), profile=profile("confirm", dead_air_ms=0))
            async with talking(agent) as conversation:
                await asyncio.sleep(4)
                async with within_50_ms():
                    conversation.interrupt()
                    await asyncio.wait_for(server.gone.wait(), WAIT_S)
            await brain.close()

    run(work())


def test_the_end_of_a_conversation_closes_the_ears() -> None:
    async def work() -> None:
        deepgram = needs_plugin("deepgram")
        async with DeepgramService() as service:
            url = f"http://127.0.0.1:{service.port}/v1/listen"
            ears = PluginEars(lambda: deepgram.STT(api_key="secret-key", base_url=url))
            agent = Agent(ScriptedBrain(["Yes."]), ears=ears, voice=ScriptedVoice())
            async with talking(agent) as conversation:
                await service.until(lambda: service.open == 1)
                await asyncio.sleep(1)
                async with within_50_ms():
                    ending = asyncio.ensure_future(conversation.end())
                    await service.until(lambda: service.open == 0)
                await ending
            await ears.close()

    run(work())


def test_a_service_that_is_still_open_after_50_ms_would_fail_here() -> None:
    async def work() -> None:
        async with within_50_ms():
            await asyncio.sleep(0.06)

    with pytest.raises(AssertionError):
        run(work())
