"""OpenAI's TTS plugin against a server that speaks its protocol: `make providers`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from duologue.plugins import PluginVoice
from duologue.ports import Sound
from tests.brains.chat_server import ChatServer, Wire
from tests.limits import TEST_S
from tests.needs import needs_plugin

TRIED = (("openai", "TTS"),)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, TEST_S))


def test_a_voice_that_answers_with_one_request() -> None:
    openai = needs_plugin("openai")

    async def script(wire: Wire) -> None:
        await wire.raw(b"HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nContent-Length: 48000\r\n\r\n" + bytes(48_000))

    async def work() -> tuple[list[Sound], dict[str, Any]]:
        async with ChatServer(script) as server:
            make = lambda: openai.TTS(  # noqa: E731
                model="tts-x", voice="alloy", api_key="secret-key", base_url=server.url, response_format="pcm"
            )
            voice = PluginVoice(make)
            sounds = [sound async for sound in voice.speak("Hello.")]
            await voice.close()
            return sounds, server.bodies[0]

    sounds, body = run(work())
    assert 1_000 <= sum(sound.ms for sound in sounds) <= 1_020, "LiveKit adds 10 ms of silence as its end"
    assert body["input"] == "Hello."
    assert body["voice"] == "alloy"
